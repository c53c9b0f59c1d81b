/*
** Writes a CPU profile as a stream of version 0x10.
**
** A definition is looked up by its bytes: the same bytes always have the same
** number, and a new definition is ready to be written.
*/

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ljm_format.h"
#include "stream.h"
#include "stream_block.h"
#include "strpool.h"

_Static_assert(LS_APPROX == LJM_SITE_APPROX && LS_TRACE == LJM_SITE_TRACE &&
                   LS_UNSURE == LJM_SITE_UNSURE,
               "flags of sites are the stream's");
_Static_assert(LS_MODULE_NONE == LJM_MODULE_NONE, "and so is no module");

#define STREAM_FLAGS (LS_APPROX | LS_TRACE | LS_UNSURE)

/* Kinds of numbers, each with a count of its own. */
enum { IDS_FUNC, IDS_SITE, IDS_MODULE, IDS_PROCESS, IDS_THREAD, IDS_KINDS };

struct LsStream {
  LsBlock block;
  LsBuffer rec; /* The record that is being made: its kind, its payload. */
  LsPool ids;
  uint32_t next[IDS_KINDS]; /* The number of the next definition. */
  uint64_t ns;              /* What the next block's time mark says. */
  /* The stack register of the block, as a reader has it. */
  uint32_t stack[LJM_STACK_MAX];
  size_t nstack;
  int cut;
};

/* -- Records -------------------------------------------------------------- */

static void stream_string(LsStream *s, const char *str)
{
  ls_buffer_string(&s->rec, str, str ? strlen(str) : 0);
}

static void stream_uleb(LsStream *s, uint64_t v)
{
  ls_buffer_uleb(&s->rec, v);
}

/* Begin a record. */
static void stream_record(LsStream *s, unsigned code)
{
  s->rec.n = 0;
  ls_buffer_byte(&s->rec, LJM_RECORD_BYTE(code));
}

/* There was no memory: that ends the stream. */
static int stream_bad(LsStream *s)
{
  if ((s->rec.bad || s->block.b.bad) && !s->block.error)
    s->block.error = ENOMEM;
  return s->block.error != 0;
}

/* Make sure that N bytes fit into the block, and that there is one. */
static void stream_room(LsStream *s, size_t n)
{
  LsBuffer *b = &s->block.b;
  if (b->n && b->n + n > LJM_BLOCK_DEFAULT)
    ls_block_flush(&s->block);
  if (!b->n) {
    ls_block_begin(&s->block);
    ls_buffer_byte(b, LJM_RECORD_BYTE(LJM_REC_TIME));
    ls_buffer_uleb(b, ljm_uleblen(s->ns));
    ls_buffer_uleb(b, s->ns);
    s->nstack = 0;
    s->cut = 0;
  }
}

/* Add the record to the block, with an ID in front of its payload if not 0. */
static void stream_put(LsStream *s, uint32_t id)
{
  LsBuffer *b = &s->block.b;
  size_t n = s->rec.n - 1 + (id ? ljm_uleblen(id) : 0);
  if (stream_bad(s))
    return;
  stream_room(s, n + 1 + LJM_ULEB_MAX);
  ls_buffer_byte(b, s->rec.p[0]);
  ls_buffer_uleb(b, n);
  if (id)
    ls_buffer_uleb(b, id);
  ls_buffer_add(b, s->rec.p + 1, s->rec.n - 1);
}

/* The number of the record's definition, which is written if it is new. */
static uint32_t stream_define(LsStream *s, int kind)
{
  uint32_t id;
  if (stream_bad(s))
    return 0;
  id = ls_pool_id(&s->ids, s->rec.p, s->rec.n, s->next[kind]);
  if (!id) {
    s->block.error = ENOMEM;
  } else if (id == s->next[kind]) {
    s->next[kind]++;
    stream_put(s, id);
  }
  return id;
}

/* -- Facts ---------------------------------------------------------------- */

/* A pair of META or of the statistics. */
static void stream_number(LsStream *s, const char *key, uint64_t v)
{
  stream_string(s, key);
  ls_buffer_byte(&s->rec, LJM_META_UINT);
  stream_uleb(s, v);
}

static void stream_meta_number(LsStream *s, const char *key, uint64_t v)
{
  if (v)
    stream_number(s, key, v);
}

static void stream_meta_string(LsStream *s, const char *key, const char *v)
{
  if (!v)
    return;
  stream_string(s, key);
  ls_buffer_byte(&s->rec, LJM_META_STRING);
  stream_string(s, v);
}

/* META. Readers recognise a CPU profile by `hz` or `event` if the prologue is
** lost.
*/
static void stream_meta(LsStream *s, const LsStreamInfo *info)
{
  stream_record(s, LJM_REC_META);
  stream_meta_string(s, "event", info->event);
  stream_meta_number(s, "hz", info->hz);
  stream_meta_number(s, "period_ns", info->period_ns);
  stream_meta_string(s, "producer", info->producer);
  stream_meta_string(s, "kernel", info->kernel);
  stream_meta_string(s, "arch", info->arch);
  stream_meta_string(s, "host", info->host);
  stream_meta_string(s, "options", info->options);
  stream_meta_number(s, "pid", info->pid);
  stream_meta_number(s, "pidns", info->pidns);
  stream_meta_number(s, "realtime", info->realtime);
  stream_meta_number(s, "monotonic", info->monotonic);
  stream_put(s, 0);
}

/* -- Definitions ---------------------------------------------------------- */

uint32_t ls_stream_module(LsStream *s, const char *path, const uint8_t *buildid,
                          size_t n)
{
  stream_record(s, LJM_REC_MODULE);
  stream_uleb(s, 0);
  ls_buffer_string(&s->rec, (const char *)buildid, n);
  stream_string(s, path);
  return stream_define(s, IDS_MODULE);
}

/* A Lua function. */
static void stream_proto(LsStream *s, const LsSite *site)
{
  stream_record(s, LJM_REC_PROTO);
  stream_uleb(s, (site->chunklen > LJM_NAME_MAX ? LJM_PROTO_CUT : 0u) |
                     (site->flags & LS_STRIPPED ? LJM_PROTO_STRIPPED : 0u) |
                     (site->flags & LS_BYHASH ? LJM_PROTO_BYHASH : 0u));
  stream_uleb(s, 0); /* Its address has no meaning outside of the process. */
  stream_uleb(s, site->hash);
  stream_uleb(s, site->first);
  stream_uleb(s, site->lines);
  ls_buffer_string(&s->rec, site->chunk, site->chunk ? site->chunklen : 0);
  stream_string(s, site->name);
}

/* A C function that has a name in Lua, as the recorder defines it. */
static void stream_cfunc(LsStream *s, const LsSite *site)
{
  stream_record(s, LJM_REC_CFUNC);
  stream_uleb(s, LJM_CFUNC_NAMED);
  stream_uleb(s, 0);
  stream_uleb(s, site->addr);
  ls_buffer_string(&s->rec, site->chunk, site->chunk ? site->chunklen : 0);
  stream_string(s, site->name);
  stream_string(s, site->symbol);
}

/* A builtin or a mark of missing frames: only a name. */
static void stream_builtin(LsStream *s, const LsSite *site)
{
  stream_record(s, LJM_REC_CFUNC);
  stream_uleb(s, site->kind == LS_MARK ? LJM_CFUNC_MARK : LJM_CFUNC_BUILTIN);
  stream_uleb(s, 0);
  stream_uleb(s, 0);
  stream_string(s, "");
  stream_string(s, site->name);
}

/* A native function. Addresses of kernel functions are not written: they are
** secret, and sampled addresses would split a function.
*/
static void stream_native(LsStream *s, const LsSite *site)
{
  int kernel = site->kind == LS_KERNEL;
  int named = site->name && *site->name;
  stream_record(s, LJM_REC_NATIVE);
  stream_uleb(s, (kernel ? LJM_NATIVE_KERNEL : 0u) |
                     (named ? 0u : LJM_NATIVE_NOSYMBOL) |
                     (site->flags & LS_INFERRED ? LJM_NATIVE_INFERRED : 0u));
  stream_uleb(s, kernel ? LJM_MODULE_NONE : site->module);
  stream_uleb(s, kernel && named ? 0 : site->addr);
  stream_string(s, site->name);
}

uint32_t ls_stream_site(LsStream *s, const LsSite *site)
{
  uint32_t func;
  if (site->kind == LS_LUA)
    stream_proto(s, site);
  else if (site->kind == LS_NATIVE || site->kind == LS_KERNEL)
    stream_native(s, site);
  else if (site->kind == LS_CFUNC)
    stream_cfunc(s, site);
  else
    stream_builtin(s, site);
  func = stream_define(s, IDS_FUNC);
  stream_record(s, LJM_REC_SITE);
  stream_uleb(s, site->flags & STREAM_FLAGS);
  stream_uleb(s, func);
  stream_uleb(s, site->kind == LS_LUA ? site->line : 0);
  func = stream_define(s, IDS_SITE);
  return func ? func : LJM_SITE_UNKNOWN;
}

uint32_t ls_stream_process(LsStream *s, const LsProcess *p)
{
  stream_record(s, LJM_REC_PROCESS);
  stream_uleb(s, 0);
  stream_uleb(s, p->pid);
  stream_uleb(s, p->pidns);
  stream_uleb(s, p->start);
  stream_string(s, p->command);
  stream_string(s, p->cgroup);
  return stream_define(s, IDS_PROCESS);
}

uint32_t ls_stream_thread(LsStream *s, uint32_t process, uint32_t tid,
                          const char *name)
{
  stream_record(s, LJM_REC_THREAD);
  stream_uleb(s, 0);
  stream_uleb(s, process);
  stream_uleb(s, tid);
  stream_string(s, name);
  return stream_define(s, IDS_THREAD);
}

/* -- Samples -------------------------------------------------------------- */

void ls_stream_time(LsStream *s, uint64_t ns)
{
  ls_block_flush(&s->block);
  s->ns = ns;
}

/* The whole register. */
static void stream_stack(LsStream *s, const uint32_t *sites, size_t n, int cut)
{
  size_t i;
  stream_record(s, LJM_REC_STACK);
  stream_uleb(s, cut ? LJM_STACK_CUT : 0);
  for (i = 0; i < n; i++)
    stream_uleb(s, sites[i]);
  stream_put(s, 0);
}

/* Writes a change of the register after its first SAME sites. */
static void stream_change(LsStream *s, const uint32_t *sites, size_t n,
                          size_t same)
{
  LsBuffer *b = &s->block.b;
  size_t pops = s->nstack - same, pushes = n - same, i;
  unsigned p = pops < LJM_STACK_MOREPOPS ? (unsigned)pops : LJM_STACK_MOREPOPS;
  unsigned q =
      pushes < LJM_STACK_MOREPUSHES ? (unsigned)pushes : LJM_STACK_MOREPUSHES;
  ls_buffer_byte(b, LJM_STACK_BYTE(p, q));
  if (p == LJM_STACK_MOREPOPS)
    ls_buffer_uleb(b, pops - p);
  if (q == LJM_STACK_MOREPUSHES)
    ls_buffer_uleb(b, pushes - q);
  for (i = same; i < n; i++)
    ls_buffer_uleb(b, sites[i]);
}

/* Make the register these sites. */
static void stream_register(LsStream *s, const uint32_t *sites, size_t n,
                            int cut)
{
  size_t same = 0;
  if (cut != s->cut) {
    stream_stack(s, sites, n, cut);
  } else {
    while (same < n && same < s->nstack && s->stack[same] == sites[same])
      same++;
    if (same < n || same < s->nstack)
      stream_change(s, sites, n, same);
  }
  if (n > same)
    memcpy(s->stack + same, sites + same, (n - same) * sizeof(*sites));
  s->nstack = n;
  s->cut = cut;
}

void ls_stream_sample(LsStream *s, uint32_t thread, const uint32_t *sites,
                      size_t n, int cut, uint64_t count)
{
  if (!count || stream_bad(s))
    return;
  if (n > LJM_STACK_MAX) {
    sites += n - LJM_STACK_MAX;
    n = LJM_STACK_MAX;
    cut = 1;
  }
  stream_room(s, n * 5 + 64); /* All of it in one block. */
  stream_register(s, sites, n, cut != 0);
  stream_record(s, LJM_REC_SAMPLE);
  stream_uleb(s, cut ? LJM_SAMPLE_CUT : 0);
  stream_uleb(s, thread);
  stream_uleb(s, count);
  stream_put(s, 0);
  s->block.fresh++;
}

/* -- Its life ------------------------------------------------------------- */

LsStream *ls_stream_open(int fd, const LsStreamInfo *info)
{
  static const char head[] = "ljs\x10\0\0\0\0\x80ljp\x10\0\0";
  LsStream *s = calloc(1, sizeof(*s));
  int i;
  if (!s)
    return NULL;
  s->block.fd = fd;
  for (i = 0; i < IDS_KINDS; i++)
    s->next[i] = 1;
  s->next[IDS_SITE] = LJM_SITE_FIRST;
  ls_block_write(&s->block, head, sizeof(head));
  stream_meta(s, info);
  return s;
}

int ls_stream_error(const LsStream *s)
{
  return s->block.error;
}

uint64_t ls_stream_written(const LsStream *s)
{
  return s->block.written;
}

int ls_stream_end(LsStream *s, const LsStatistic *stats, size_t n)
{
  stream_record(s, LJM_REC_BOOKS);
  for (; n; n--, stats++)
    stream_number(s, stats->key, stats->value);
  stream_put(s, 0);
  ls_block_flush(&s->block);
  return s->block.error;
}

int ls_stream_close(LsStream *s, const LsStatistic *stats, size_t n)
{
  int error;
  if (stats)
    ls_stream_end(s, stats, n);
  ls_block_flush(&s->block);
  error = s->block.error;
  ls_pool_free(&s->ids);
  free(s->block.b.p);
  free(s->rec.p);
  free(s);
  return error;
}
