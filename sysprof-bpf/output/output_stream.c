/*
** A profile as a stream: writes definitions before their first use.
*/

#include <stdio.h>
#include <stdlib.h>

#include "output.h"
#include "target.h"

typedef struct LsOutputStream {
  LsOutput o;
  LsStream *stream;
  uint32_t *site; /* The stream's numbers of sites; 0: not defined,
                  ** NAMELESS: defined without a name. */
  size_t nsite;
  uint32_t *stack; /* A stack in them. */
  size_t nstack;
} LsOutputStream;

#define NAMELESS 0x80000000u

static int room(uint32_t **v, size_t *n, size_t want)
{
  uint32_t *more;
  size_t i;
  if (want <= *n)
    return 0;
  want += want / 2 + 256;
  more = realloc(*v, want * sizeof(*more));
  if (!more)
    return -1;
  for (i = *n; i < want; i++)
    more[i] = 0;
  *v = more;
  *n = want;
  return 0;
}

static uint32_t define_site(LsOutputStream *os, uint32_t id)
{
  const LsSite *s = ls_sitetable_get(os->o.sites, id);
  LsSite copy;
  if (room(&os->site, &os->nsite, (size_t)id + 1) || !s)
    return 0;
  if (os->site[id] && !((os->site[id] & NAMELESS) && *s->name))
    return os->site[id] & ~NAMELESS;
  copy = *s;
  if (s->module) {
    const LsModule *m = ls_modules_find(os->o.modules, s->module);
    copy.module =
        ls_stream_module(os->stream, m->path, m->buildid, m->nbuildid);
  }
  os->site[id] = ls_stream_site(os->stream, &copy);
  if (s->kind == LS_LUA && !*s->name)
    os->site[id] |= NAMELESS;
  return os->site[id] & ~NAMELESS;
}

static void stream_sample(LsOutput *o, const LsProcess *p,
                          const LsNamedStack *s, uint64_t count)
{
  LsOutputStream *os = (LsOutputStream *)o;
  const char *name = *s->thread             ? s->thread
                     : s->key.tid == p->pid ? p->command
                                            : "";
  uint32_t thread, i;
  if (room(&os->stack, &os->nstack, s->n))
    return;
  thread = ls_stream_thread(os->stream, ls_stream_process(os->stream, p),
                            s->key.tid, name);
  for (i = 0; i < s->n; i++)
    os->stack[i] = define_site(os, s->site[i]);
  ls_stream_sample(os->stream, thread, os->stack, s->n, s->cut != LJS_CUT_NOT,
                   count);
}

static void stream_state(LsOutputStream *os)
{
  os->o.written = ls_stream_written(os->stream);
  os->o.err = ls_stream_error(os->stream);
}

static void stream_time(LsOutput *o, uint64_t ns)
{
  LsOutputStream *os = (LsOutputStream *)o;
  ls_stream_time(os->stream, ns);
  stream_state(os);
}

static void stream_end(LsOutput *o, const LsStatistic *stats, size_t n)
{
  LsOutputStream *os = (LsOutputStream *)o;
  ls_stream_end(os->stream, stats, n);
  stream_state(os);
}

static void stream_close(LsOutput *o)
{
  LsOutputStream *os = (LsOutputStream *)o;
  ls_stream_close(os->stream, NULL, 0);
  free(os->site);
  free(os->stack);
  free(os);
}

LsOutput *ls_output_stream(int fd, const LsSiteTable *sites,
                           const LsModules *modules, const LsStreamInfo *info)
{
  LsOutputStream *os = calloc(1, sizeof(*os));
  if (!os)
    return NULL;
  os->stream = ls_stream_open(fd, info);
  if (!os->stream) {
    free(os);
    return NULL;
  }
  os->o = (LsOutput){sites,       modules,    stream_sample,
                     stream_time, stream_end, stream_close,
                     0,           0};
  return &os->o;
}
