/*
** Names of sites as Tarantool's tool prints them.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "label.h"
#include "tarantool_names.h"
#include "printable.h"

/* -- Tables --------------------------------------------------------------- */

/* By address; of several at one address, the last one defined is the last. */
static int names_symbol_before(const void *a, const void *b)
{
  const LpTarantoolSymbol *x = a, *y = b;
  if (x->addr != y->addr)
    return x->addr < y->addr ? -1 : 1;
  return x->func < y->func ? -1 : x->func > y->func;
}

/* Give a chunk whose name has several lines an alias. */
static void names_add_chunk(LpTarantoolNames *t, uint32_t chunk)
{
  LpStr s = lp_profile_name(t->prof, chunk);
  if (!s.n || !memchr(s.s, '\n', s.n) ||
      lp_idmap_get(&t->aliases, chunk) != LP_NONE)
    return;
  lp_idmap_put(&t->aliases, chunk, t->nchunk);
  t->chunk = lp_grow(t->chunk, &t->chunks, t->nchunk + 1, sizeof(uint32_t));
  t->chunk[t->nchunk++] = chunk;
}

LpTarantoolNames lp_tarantool_names(const LpProfile *prof, unsigned version,
                                    int safe)
{
  LpTarantoolNames t = {.prof = prof, .version = version, .safe = safe};
  uint32_t i;
  if (!version)
    t.version = LP_TARANTOOL_NEW;
  if (t.version < LP_TARANTOOL_NEW) /* It knew neither symbols nor aliases. */
    return t;
  t.symbol = lp_alloc(prof->funckeys.n * sizeof(LpTarantoolSymbol));
  for (i = 0; i < prof->funckeys.n; i++) {
    const LpFuncInfo *fi = &prof->func[i];
    if (fi->kind == LP_FUNC_C && version)
      t.symbol[t.nsymbol++] = (LpTarantoolSymbol){fi->addr, i};
    else if (fi->kind == LP_FUNC_LUA)
      names_add_chunk(&t, fi->chunk);
  }
  qsort(t.symbol, t.nsymbol, sizeof(LpTarantoolSymbol), names_symbol_before);
  return t;
}

void lp_tarantool_names_close(LpTarantoolNames *t)
{
  free(t->symbol);
  free(t->chunk);
  lp_idmap_free(&t->aliases);
}

/* The C function at or before ADDR, or LP_NONE. */
static uint32_t names_floor(const LpTarantoolNames *t, uint64_t addr)
{
  size_t lo = 0, hi = t->nsymbol;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (t->symbol[mid].addr <= addr)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo ? t->symbol[lo - 1].func : LP_NONE;
}

/* -- Names ---------------------------------------------------------------- */

/* Append text of the stream. */
static void names_text(const LpTarantoolNames *t, LpBuf *b, LpStr s)
{
  if (t->safe)
    lp_printable(b, s);
  else
    lp_buf_add(b, s.s, s.n);
}

/* A line as the tool prints it: through a double that is converted to a signed
** number, which is no line if the VM had none.
*/
static int64_t names_line(uint64_t line)
{
  return line > INT64_MAX ? INT64_MIN : (int64_t)line;
}

/* A line of a Lua function. */
static void names_lua(const LpTarantoolNames *t, LpBuf *b, const LpFuncInfo *fi,
                      uint64_t line)
{
  uint32_t alias = lp_idmap_get(&t->aliases, fi->chunk);
  if (alias == LP_NONE)
    names_text(t, b, lp_profile_name(t->prof, fi->chunk));
  else
    lp_buf_printf(b, "function_alias_%" PRIu32, alias + 1);
  lp_buf_printf(b, ":%" PRId64, names_line(line));
}

/* A C function: its symbol, else its name in Lua, and where it begins. */
static void names_c(const LpTarantoolNames *t, LpBuf *b, const LpFuncInfo *fi)
{
  LpStr s = lp_profile_name(t->prof, fi->name);
  if (!s.n)
    s = lp_profile_name(t->prof, fi->named);
  if (s.n) {
    names_text(t, b, s);
    lp_buf_puts(b, ":");
  } else {
    lp_buf_puts(b, "CFUNC ");
  }
  lp_buf_printf(b, "0x%" PRIx64, fi->addr);
}

/* Code of which only the address is known. */
static void names_address(const LpTarantoolNames *t, LpBuf *b, uint64_t addr)
{
  uint32_t func = names_floor(t, addr);
  if (func == LP_NONE)
    lp_buf_printf(b, "CFUNC 0x%" PRIx64, addr);
  else
    names_c(t, b, &t->prof->func[func]);
}

/* A trace. */
static void names_trace(const LpTarantoolNames *t, LpBuf *b,
                        const LpFuncInfo *fi)
{
  const LpFuncInfo *start = &t->prof->func[fi->start];
  lp_buf_printf(b, "TRACE [%" PRIu64 "]", fi->first);
  if (t->version < LP_TARANTOOL_NEW)
    lp_buf_printf(b, " 0x%" PRIx64, fi->addr);
  if (start->kind != LP_FUNC_LUA)
    return;
  lp_buf_puts(b, " started at ");
  names_lua(t, b, start, fi->line);
}

void lp_tarantool_name(const LpTarantoolNames *t, LpBuf *b, uint32_t site)
{
  const LpRow *r = &t->prof->row[site];
  const LpFuncInfo *fi = &t->prof->func[r->func];
  switch (site < LP_SITE_FIRST ? LP_FUNC_UNDEFINED : fi->kind) {
  case LP_FUNC_LUA:
    names_lua(t, b, fi, r->line);
    break;
  case LP_FUNC_C:
    names_c(t, b, fi);
    break;
  case LP_FUNC_LUA_ADDR:
  case LP_FUNC_C_ADDR:
    names_address(t, b, fi->addr);
    break;
  case LP_FUNC_TRACE:
    names_trace(t, b, fi);
    break;
  default:
    lp_label_site(b, t->prof, site);
    break;
  }
}

void lp_tarantool_key(const LpTarantoolNames *t, LpBuf *b, uint32_t site)
{
  const LpRow *r = &t->prof->row[site];
  const LpFuncInfo *fi = &t->prof->func[r->func];
  int trace = fi->kind == LP_FUNC_TRACE;
  uint64_t addr = trace && t->version >= LP_TARANTOOL_NEW ? 0 : fi->addr;
  lp_buf_printf(b, addr ? "f0x%" PRIx64 : "f%" PRIx64, addr);
  lp_buf_printf(b, "l%" PRId64, names_line(r->line));
  if (t->version > 1)
    lp_buf_printf(b, "t%" PRIu64, trace ? fi->first : 0);
  if (t->version >= LP_TARANTOOL_NEW)
    lp_buf_puts(b, "g");
}

void lp_tarantool_alias(const LpTarantoolNames *t, LpBuf *b, uint32_t i)
{
  LpStr s = lp_profile_name(t->prof, t->chunk[i]);
  unsigned n = 0;
  lp_buf_printf(b, "function_alias_%" PRIu32 ":\n", i + 1);
  while (s.n) {
    const char *end = memchr(s.s, '\n', s.n);
    size_t len = end ? (size_t)(end - s.s) : s.n;
    if (len) {
      lp_buf_printf(b, "%u\t| ", ++n);
      names_text(t, b, (LpStr){s.s, len});
      lp_buf_puts(b, "\n");
    }
    len += end != NULL;
    s.s += len;
    s.n -= len;
  }
  lp_buf_puts(b, "\n\n");
}
