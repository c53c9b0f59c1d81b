/*
** A profile as folded stacks: root;...;leaf count.
**
** Stacks with the same text are one line; lines are sorted by their bytes. They
** are formatted at the end, when all names are known.
*/

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "luafirst.h"
#include "output.h"
#include "target.h"
#include "text.h"

/* A stack: its prefix and sites; finally its text. */
typedef struct Line {
  char *text;
  uint32_t *site;
  uint32_t n;
  uint64_t count;
} Line;

typedef struct LsOutputFolded {
  LsOutput o;
  int fd;
  LsFolded want;
  int luafirst; /* A stack had a frame of Lua. */
  Line *line;
  size_t n, room;
  uint64_t every;   /* Nanoseconds between two parts; 0: all at the end. */
  uint64_t known;   /* When the samples end that have come, */
  uint64_t written; /* and those of the last part. */
  size_t merge;     /* With more lines than that they are merged. */
  char *buf;        /* The line under construction. */
  size_t len, size;
} LsOutputFolded;

/* -- A line --------------------------------------------------------------- */

static void put(LsOutputFolded *of, const char *s, size_t n)
{
  if (of->len + n + 1 > of->size) {
    size_t size = (of->len + n + 1) * 2;
    char *buf = realloc(of->buf, size);
    if (!buf) {
      of->o.err = ENOMEM;
      return;
    }
    of->buf = buf;
    of->size = size;
  }
  memcpy(of->buf + of->len, s, n);
  of->len += n;
  of->buf[of->len] = '\0';
}

/* Escapes bytes that a frame's name must not contain. */
static void put_name(LsOutputFolded *of, const char *s, size_t n)
{
  char esc[8];
  size_t len;
  for (; n; n -= len, s += len) {
    unsigned char c = *s;
    len = ls_text_char((const unsigned char *)s, n);
    if (len && c != ';') {
      put(of, s, len);
    } else {
      len = 1;
      snprintf(esc, sizeof(esc), "\\x%02x", c);
      put(of, esc, strlen(esc));
    }
  }
}

static void put_string(LsOutputFolded *of, const char *s)
{
  if (s)
    put_name(of, s, strlen(s));
}

static void put_format(LsOutputFolded *of, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void put_format(LsOutputFolded *of, const char *fmt, ...)
{
  char buf[256];
  va_list args;
  va_start(args, fmt);
  vsnprintf(buf, sizeof(buf), fmt, args);
  va_end(args);
  put(of, buf, strlen(buf));
}

/* -- Sites ---------------------------------------------------------------- */

#define SHORT 60 /* Bytes of a chunk's name that are written. */

/* A chunk's name: of a file its path, of a string how it begins. */
static void put_chunk(LsOutputFolded *of, const char *s, size_t n)
{
  const char *nl;
  if (n && (*s == '@' || *s == '=')) {
    put_name(of, s + 1, n - 1);
    return;
  }
  nl = memchr(s, '\n', n);
  put_string(of, "[string \"");
  put_name(of, s, nl ? (size_t)(nl - s) : n < SHORT ? n : SHORT);
  put_string(of, nl || n > SHORT ? "...\"]" : "\"]");
}

static void put_lua(LsOutputFolded *of, const LsSite *s)
{
  put_string(of, s->name);
  put(of, "@", 1);
  put_chunk(of, s->chunk, s->chunklen);
  put_format(of, ":%s%llu", (s->flags & LS_APPROX) ? "~" : "",
             (unsigned long long)(s->line ? s->line : s->first));
  if (s->flags & LS_BYHASH)
    put_format(of, "#%08llx", (unsigned long long)s->hash);
}

static void put_native(LsOutputFolded *of, const LsSite *s)
{
  const LsModule *m = ls_modules_find(of->o.modules, s->module);
  const char *path = m ? m->path : "", *base = strrchr(path, '/');
  base = base ? base + 1 : path;
  if (s->name && *s->name) {
    put_string(of, s->name);
    put_string(of, " (");
    put_string(of, base);
    put_string(of, ")");
  } else if (m) {
    put_string(of, "[");
    put_string(of, base);
    put_format(of, "+0x%llx]", (unsigned long long)s->addr);
  } else {
    put_format(of, "[0x%llx]", (unsigned long long)s->addr);
  }
}

static void put_site(LsOutputFolded *of, const LsSite *s)
{
  switch (s->kind) {
  case LS_LUA:
    put_lua(of, s);
    break;
  case LS_BUILTIN:
  case LS_CFUNC:
    put_string(of, s->name && *s->name ? s->name : "?");
    put_string(of, " [builtin]");
    break;
  case LS_NATIVE:
    put_native(of, s);
    break;
  case LS_KERNEL:
    if (s->name && *s->name)
      put_string(of, s->name);
    else
      put_format(of, "0x%llx", (unsigned long long)s->addr);
    put_string(of, "_[k]");
    break;
  default:
    put_string(of, "(");
    put_string(of, s->name);
    put_string(of, ")");
  }
}

/* -- Output --------------------------------------------------------------- */

/* What stacks begin with. */
static void put_prefix(LsOutputFolded *of, const LsProcess *p,
                       const LsNamedStack *s)
{
  of->len = 0;
  put_string(of, of->want.processes ? p->command : "");
  if (of->want.threads) {
    put_string(of, of->len ? ";" : "");
    put_string(of, s->thread);
    put_format(of, "-%u", s->key.tid);
  }
}

static Line *new_line(LsOutputFolded *of)
{
  if (of->n == of->room) {
    size_t room = of->room ? of->room * 2 : 256;
    Line *line = realloc(of->line, room * sizeof(*line));
    if (!line)
      return NULL;
    of->line = line;
    of->room = room;
  }
  return &of->line[of->n];
}

static void folded_sample(LsOutput *o, const LsProcess *p,
                          const LsNamedStack *s, uint64_t count)
{
  LsOutputFolded *of = (LsOutputFolded *)o;
  Line *l = new_line(of);
  if (!l) {
    of->o.err = ENOMEM;
    return;
  }
  put_prefix(of, p, s);
  l->text = strdup(of->len ? of->buf : "");
  l->site = malloc((s->n ? s->n : 1) * sizeof(*l->site));
  if (!l->text || !l->site) {
    of->o.err = ENOMEM;
    free(l->text);
    free(l->site);
    return;
  }
  memcpy(l->site, s->site, s->n * sizeof(*l->site));
  l->n = s->n;
  l->count = count;
  of->n++;
}

/* Formats a stack as text. */
static void spell(LsOutputFolded *of, Line *l, int luafirst)
{
  uint32_t i;
  char *text;
  of->len = 0;
  put(of, l->text, strlen(l->text));
  if (luafirst) {
    l->n = ls_luafirst(of->o.sites, l->site, l->n);
    if (!l->n)
      put_format(of, "%s(outside Lua)", of->len ? ";" : "");
  }
  for (i = 0; i < l->n; i++) {
    const LsSite *site = ls_sitetable_get(of->o.sites, l->site[i]);
    if (of->len)
      put(of, ";", 1);
    if (site)
      put_site(of, site);
  }
  if (!of->len)
    put_string(of, "(nothing)");
  text = of->buf ? strdup(of->buf) : NULL;
  if (!text) {
    of->o.err = ENOMEM;
    return;
  }
  free(l->text);
  l->text = text;
  l->n = 0;
}

static int by_stack(const void *a, const void *b)
{
  const Line *x = a, *y = b;
  int order = strcmp(x->text, y->text);
  if (!order && x->n != y->n)
    order = x->n < y->n ? -1 : 1;
  return order || !x->n ? order
                        : memcmp(x->site, y->site, x->n * sizeof(*x->site));
}

/* Adds up lines that are the same. */
static void merge(LsOutputFolded *of)
{
  size_t i, n = 0;
  if (of->n)
    qsort(of->line, of->n, sizeof(*of->line), by_stack);
  for (i = 0; i < of->n; i++) {
    if (n && by_stack(&of->line[n - 1], &of->line[i]) == 0) {
      of->line[n - 1].count += of->line[i].count;
      free(of->line[i].text);
      free(of->line[i].site);
    } else {
      of->line[n++] = of->line[i];
    }
  }
  of->n = n;
}

/* Are samples charged to Lua lines? Not before there is one. */
static int is_luafirst(LsOutputFolded *of)
{
  size_t i;
  for (i = 0; !of->want.native && !of->luafirst && i < of->n; i++)
    of->luafirst =
        ls_luafirst_any(of->o.sites, of->line[i].site, of->line[i].n);
  return of->luafirst;
}

/* Writes all lines. Returns 0, or errno. */
static int write_lines(const LsOutputFolded *of)
{
  FILE *f = fdopen(dup(of->fd), "w");
  int bad = !f;
  size_t i;
  for (i = 0; !bad && i < of->n; i++)
    bad = fprintf(f, "%s %llu\n", of->line[i].text,
                  (unsigned long long)of->line[i].count) < 0;
  if (bad && f) { /* A write error has precedence over the error of closing. */
    int err = errno;
    fclose(f);
    return err;
  }
  return !f || fclose(f) ? errno : 0;
}

/* Formats, merges and writes all lines. */
static void write_all(LsOutputFolded *of)
{
  size_t i;
  int err, luafirst;
  merge(of);
  luafirst = is_luafirst(of);
  for (i = 0; i < of->n; i++)
    spell(of, &of->line[i], luafirst);
  merge(of);
  err = write_lines(of);
  if (!of->o.err)
    of->o.err = err;
  if (!of->o.err)
    of->o.written += of->n;
}

static void clear_lines(LsOutputFolded *of)
{
  size_t i;
  for (i = 0; i < of->n; i++) {
    free(of->line[i].text);
    free(of->line[i].site);
  }
  of->n = 0;
}

/* Writes what was sampled since the last part. */
static void write_part(LsOutputFolded *of)
{
  write_all(of);
  if (write(of->fd, "\n", 1) != 1 && !of->o.err)
    of->o.err = errno;
  clear_lines(of);
}

#define EVERY_SLACK 100000000 /* Parts end with a turn of the tables. */

#define MERGE_AT 65536 /* Lines that are kept before they are merged. */

static void folded_time(LsOutput *o, uint64_t ns)
{
  LsOutputFolded *of = (LsOutputFolded *)o;
  if (of->every && of->known - of->written + EVERY_SLACK >= of->every) {
    of->written = of->known;
    write_part(of);
  } else if (of->n > of->merge) {
    merge(of);
    of->merge = of->n * 2 + MERGE_AT;
  }
  of->known = ns; /* Samples up to then come now. */
}

static void folded_end(LsOutput *o, const LsStatistic *stats, size_t n)
{
  LsOutputFolded *of = (LsOutputFolded *)o;
  (void)stats;
  (void)n;
  if (of->every)
    write_part(of);
  else
    write_all(of);
}

static void folded_close(LsOutput *o)
{
  LsOutputFolded *of = (LsOutputFolded *)o;
  clear_lines(of);
  free(of->line);
  free(of->buf);
  free(of);
}

LsOutput *ls_output_folded(int fd, const LsSiteTable *sites,
                           const LsModules *modules, const LsFolded *want)
{
  LsOutputFolded *of = calloc(1, sizeof(*of));
  if (!of)
    return NULL;
  of->o = (LsOutput){sites,       modules,    folded_sample,
                     folded_time, folded_end, folded_close,
                     0,           0};
  of->fd = fd;
  of->want = *want;
  of->every = (uint64_t)(want->every * 1e9);
  return &of->o;
}
