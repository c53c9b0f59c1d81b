/*
** CPU profiles made by hand, for tests. Knows the document, not the writer.
*/

#include <string.h>

#include "craft.h"

/* Put a record that is in B, and free B. */
static void cpu_put(Craft *c, unsigned code, LpBuf *b)
{
  craft_record(c, code, b->s, b->n);
  lp_buf_free(b);
}

void craft_open_cpu(Craft *c)
{
  memset(c, 0, sizeof(*c));
  lp_buf_add(&c->out, "ljs\x10\0\0\0\0\x80ljp\x10\0\0\0", 16);
}

static void cpu_number(LpBuf *b, const char *key, uint64_t value)
{
  craft_str(b, key);
  craft_byte(b, LJM_META_UINT);
  craft_uleb(b, value);
}

void craft_meta_cpu(Craft *c, uint64_t hz)
{
  LpBuf b = {0};
  craft_str(&b, "event");
  craft_byte(&b, LJM_META_STRING);
  craft_str(&b, "cpu-clock");
  cpu_number(&b, "hz", hz);
  if (c->realtime)
    cpu_number(&b, "realtime", c->realtime);
  if (c->monotonic)
    cpu_number(&b, "monotonic", c->monotonic);
  cpu_put(c, LJM_REC_META, &b);
}

void craft_module(Craft *c, uint64_t id, const char *buildid, const char *path)
{
  LpBuf b = {0};
  craft_uleb(&b, id);
  craft_uleb(&b, 0);
  craft_str(&b, buildid);
  craft_str(&b, path);
  cpu_put(c, LJM_REC_MODULE, &b);
}

void craft_native(Craft *c, uint64_t id, unsigned flags, uint64_t module,
                  uint64_t addr, const char *symbol)
{
  LpBuf b = {0};
  craft_uleb(&b, id);
  craft_uleb(&b, flags);
  craft_uleb(&b, module);
  craft_uleb(&b, addr);
  craft_str(&b, symbol);
  cpu_put(c, LJM_REC_NATIVE, &b);
}

/* A builtin or a mark: CFUNC with flags. */
void craft_named(Craft *c, uint64_t id, unsigned flags, const char *symbol)
{
  LpBuf b = {0};
  craft_uleb(&b, id);
  craft_uleb(&b, flags);
  craft_uleb(&b, 0);
  craft_uleb(&b, 0);
  craft_str(&b, "");
  craft_str(&b, symbol);
  cpu_put(c, LJM_REC_CFUNC, &b);
}

void craft_process_in(Craft *c, uint64_t id, uint64_t pid, const char *command,
                      const char *cgroup)
{
  LpBuf b = {0};
  craft_uleb(&b, id);
  craft_uleb(&b, 0);
  craft_uleb(&b, pid);
  craft_uleb(&b, 4026531836);
  craft_uleb(&b, 12345);
  craft_str(&b, command);
  if (cgroup)
    craft_str(&b, cgroup);
  cpu_put(c, LJM_REC_PROCESS, &b);
}

void craft_process(Craft *c, uint64_t id, uint64_t pid, const char *command)
{
  craft_process_in(c, id, pid, command, NULL);
}

void craft_thread(Craft *c, uint64_t id, uint64_t process, uint64_t tid,
                  const char *name)
{
  LpBuf b = {0};
  craft_uleb(&b, id);
  craft_uleb(&b, 0);
  craft_uleb(&b, process);
  craft_uleb(&b, tid);
  craft_str(&b, name);
  cpu_put(c, LJM_REC_THREAD, &b);
}

void craft_sample(Craft *c, unsigned flags, uint64_t thread, uint64_t count)
{
  LpBuf b = {0};
  craft_uleb(&b, flags);
  craft_uleb(&b, thread);
  craft_uleb(&b, count);
  cpu_put(c, LJM_REC_SAMPLE, &b);
  c->fresh++;
}

void craft_books(Craft *c, const CraftBook *book, size_t n)
{
  LpBuf b = {0};
  for (; n; n--, book++)
    cpu_number(&b, book->key, book->value);
  cpu_put(c, LJM_REC_BOOKS, &b);
}
