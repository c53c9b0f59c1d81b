/*
** Labels of sites in reports.
*/

#include <inttypes.h>
#include <string.h>

#include "label.h"
#include "printable.h"

#define LABEL_BUILTIN 0xffffffffu /* First line of LuaJIT's own functions. */

int lp_label_builtin(const LpFuncInfo *fi)
{
  return fi->first == LABEL_BUILTIN || fi->first == LP_LINE_NONE;
}

/* Functions of stripped code have no line: their hash distinguishes them. */
static void label_hash(LpBuf *b, const LpFuncInfo *fi)
{
  if ((fi->flags & LJM_PROTO_BYHASH) && fi->first == 0)
    lp_buf_printf(b, "#%08" PRIx64, fi->hash);
}

/* A Lua function: where it is defined. */
static void label_lua(LpBuf *b, const LpProfile *prof, const LpFuncInfo *fi)
{
  LpStr chunk = lp_profile_name(prof, fi->chunk);
  if (lp_label_builtin(fi)) {
    lp_printable_line(b, "[builtin:", chunk, "]");
    return;
  }
  lp_printable_chunk(b, chunk);
  lp_buf_printf(b, ":%" PRIu64, fi->first);
  label_hash(b, fi);
}

/* The last part of a module's path, if it has one. */
static void label_module(LpBuf *b, LpStr module)
{
  const char *slash = module.n ? memrchr(module.s, '/', module.n) : NULL;
  size_t skip = slash ? (size_t)(slash + 1 - module.s) : 0;
  if (module.n > skip) {
    lp_buf_puts(b, " (");
    lp_printable(b, (LpStr){module.s + skip, module.n - skip});
    lp_buf_puts(b, ")");
  }
}

/* A C function: its name in Lua, its symbol, or its offset in the module. A
** builtin may have only a name.
*/
static void label_c(LpBuf *b, const LpProfile *prof, const LpFuncInfo *fi)
{
  LpStr module = lp_profile_name(prof, fi->chunk);
  LpStr symbol = lp_profile_name(prof, fi->name);
  LpStr named = lp_profile_name(prof, fi->named);
  int native = fi->kind == LP_FUNC_NATIVE || fi->kind == LP_FUNC_KERNEL;
  int builtin = (fi->flags & LJM_CFUNC_BUILTIN) && !module.n;
  if (named.n) {
    lp_printable(b, named);
    return;
  }
  if (!native && !builtin)
    lp_buf_puts(b, "[C] ");
  if (symbol.n)
    lp_printable(b, symbol);
  else
    lp_buf_printf(b, "0x%" PRIx64, fi->addr);
  if (fi->kind == LP_FUNC_KERNEL)
    lp_buf_puts(b, "_[k]");
  label_module(b, module);
}

/* Is the line unknown? */
static int label_noline(const LpFuncInfo *fi, uint64_t line)
{
  return line == LP_LINE_NONE || line == LABEL_BUILTIN ||
         (line == 0 && fi->kind == LP_FUNC_LUA);
}

int lp_label_hasline(const LpProfile *prof, uint32_t site)
{
  const LpRow *r = &prof->row[site];
  return !label_noline(&prof->func[r->func], r->line);
}

/* A line, if there are any in the function. */
static void label_line(LpBuf *b, const char *before, const LpFuncInfo *fi,
                       uint64_t line)
{
  lp_buf_puts(b, before);
  if (label_noline(fi, line))
    lp_buf_puts(b, "?");
  else
    lp_buf_printf(b, "%" PRIu64, line);
}

/* A trace, of which only the start is known. */
static void label_trace(LpBuf *b, const LpProfile *prof, const LpFuncInfo *fi)
{
  const LpFuncInfo *start = &prof->func[fi->start];
  lp_buf_printf(b, "TRACE [%" PRIu64 "]", fi->first);
  if (start->kind == LP_FUNC_LUA) {
    lp_buf_puts(b, " started at ");
    label_lua(b, prof, start);
    label_line(b, ", line ", start, fi->line);
  } else if (fi->addr) {
    lp_buf_printf(b, " 0x%" PRIx64, fi->addr);
  }
}

/* Add the label of a site, with MARKS of what is approximate. */
static void label_site(LpBuf *b, const LpProfile *prof, uint32_t site,
                       uint32_t marks)
{
  static const char *const special[LP_SITE_FIRST] = {
      [LP_SITE_INTERNAL] = "INTERNAL", [LP_SITE_UNKNOWN] = "(unknown)",
      [LP_SITE_LOST] = "(lost)",       [LP_SITE_BEFORE] = "(before start)",
      [LP_SITE_CUT] = "(cut)",         [LP_SITE_OUTSIDE] = "(outside Lua)",
  };
  const LpRow *r = &prof->row[site];
  const LpFuncInfo *fi = &prof->func[r->func];
  const char *line = marks & LJM_SITE_APPROX ? ", ~line " : ", line ";
  LpStr name;
  if (site < LP_SITE_FIRST) {
    lp_buf_puts(b, special[site]);
    return;
  }
  switch (fi->kind) {
  case LP_FUNC_LUA:
    label_lua(b, prof, fi);
    if (marks & LJM_SITE_UNSURE)
      lp_buf_puts(b, "?");
    label_line(b, line, fi, r->line);
    break;
  case LP_FUNC_LUA_ADDR:
    lp_buf_printf(b, "@?:0x%" PRIx64, fi->addr);
    label_line(b, line, fi, r->line);
    break;
  case LP_FUNC_MARK:
    name = lp_profile_name(prof, fi->name);
    if (name.n)
      lp_printable(b, name);
    else
      lp_buf_puts(b, "(missing)");
    break;
  case LP_FUNC_TRACE:
    label_trace(b, prof, fi);
    break;
  default:
    label_c(b, prof, fi);
    break;
  }
}

void lp_label_name(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  const LpFuncInfo *fi = &prof->func[prof->row[site].func];
  LpStr name = lp_profile_name(prof, fi->name);
  if (fi->kind == LP_FUNC_LUA)
    lp_printable(b, name);
}

void lp_label_named(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  LpBuf name = {0};
  lp_label_name(&name, prof, site);
  if (name.n)
    lp_buf_printf(b, " (%s)", name.s);
  lp_buf_free(&name);
}

void lp_label_site(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  label_site(b, prof, site, prof->row[site].marks);
}

void lp_label_whole(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  lp_label_site(b, prof, site);
  lp_label_named(b, prof, site);
}

void lp_label_func(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  const LpFuncInfo *fi = &prof->func[prof->row[site].func];
  if (fi->kind == LP_FUNC_LUA)
    label_lua(b, prof, fi);
  else
    label_site(b, prof, site, 0);
  lp_label_named(b, prof, site);
}

/* Add B to another, with no ';' in it, and free B. */
static void label_frame(LpBuf *to, LpBuf *b)
{
  size_t i;
  for (i = 0; i < b->n; i++) {
    if (b->s[i] == ';')
      lp_buf_puts(to, "\\x3b");
    else
      lp_buf_add(to, &b->s[i], 1);
  }
  lp_buf_free(b);
}

/* Add the label of a site and its function's name, without ';' and without
** marks of approximate lines.
*/
void lp_label_frame(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  LpBuf frame = {0};
  label_site(&frame, prof, site, 0);
  lp_label_named(&frame, prof, site);
  label_frame(b, &frame);
}

void lp_label_call(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  const LpRow *r = &prof->row[site];
  const LpFuncInfo *fi = &prof->func[r->func];
  LpBuf frame = {0}, chunk = {0};
  if (fi->kind != LP_FUNC_LUA) {
    label_site(&frame, prof, site, 0);
  } else if (lp_label_builtin(fi)) {
    label_lua(&frame, prof, fi);
  } else {
    lp_label_name(&frame, prof, site);
    lp_printable_chunk(&chunk, lp_profile_name(prof, fi->chunk));
    if (!chunk.n || chunk.s[0] != '@')
      lp_buf_puts(&frame, "@");
    lp_buf_puts(&frame, chunk.n ? chunk.s : "");
    label_line(&frame, ":", fi, r->line);
    label_hash(&frame, fi);
    lp_buf_free(&chunk);
  }
  label_frame(b, &frame);
}
