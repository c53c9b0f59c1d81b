/*
** Lua lines, with the samples and the bytes of each.
*/

#include <stdlib.h>
#include <string.h>

#include "lines.h"

#define OUTSIDE "(outside Lua)"

void ft_lines_turn(FtLines *t)
{
  uint32_t i;
  for (i = 0; i < t->names.n; i++)
    t->line[i].self = t->line[i].total = 0;
  t->samples = 0;
}

/* The number of a place, which has bytes. */
static uint32_t place_id(FtLines *t, const char *place)
{
  uint32_t id = lp_intern(&t->places, place, strlen(place) + 1);
  t->bytes = lp_grow(t->bytes, &t->nbytes, id + 1, sizeof(*t->bytes));
  return id;
}

static FtLine *find_line(FtLines *t, const char *name, const char *place)
{
  uint32_t n = t->names.n, id;
  if (n >= FT_LINES_MAX) /* Once, a stack may add a few more. */
    name = place = "(other lines)";
  id = lp_intern(&t->names, name, strlen(name) + 1);
  t->line = lp_grow(t->line, &t->room, id + 1, sizeof(*t->line));
  t->place = lp_grow(t->place, &t->nplace, id + 1, sizeof(*t->place));
  if (t->names.n != n) {
    t->line[id].id = id;
    t->place[id] = place_id(t, place);
  }
  return &t->line[id];
}

/* The line of a frame "function@chunk:line"; or NULL: it is none of Lua. */
static FtLine *frame_line(FtLines *t, char *frame)
{
  char *at = strchr(frame, '@'), *colon = strrchr(frame, ':');
  LpBuf name = {0};
  FtLine *l;
  if (!at || !colon || colon < at)
    return NULL;
  *at = '\0';
  if (colon[1] == '~') /* The line is not certain. */
    memmove(colon + 1, colon + 2, strlen(colon + 1));
  lp_buf_printf(&name, "%s%s%s", frame, *frame ? " " : "", at + 1);
  l = find_line(t, name.s, at + 1);
  lp_buf_free(&name);
  return l;
}

/* Counts what a line has called, once in a stack. */
static void count_total(const FtLines *t, FtLine *l, uint64_t count)
{
  if (l->stack != t->stacks)
    l->total += count;
  l->stack = t->stacks;
}

/* Counts the frames of a stack, outermost first. */
static void count_frames(FtLines *t, char *text, uint64_t count)
{
  FtLine *last = NULL, *l; /* Lines move only when another one is found. */
  char *save = NULL, *frame;
  for (frame = strtok_r(text, ";", &save); frame;
       frame = strtok_r(NULL, ";", &save)) {
    l = frame_line(t, frame);
    if (!l)
      continue;
    count_total(t, l, count);
    last = l;
  }
  if (!last) {
    last = find_line(t, OUTSIDE, OUTSIDE);
    count_total(t, last, count);
  }
  last->self += count;
  last->all_self += count;
}

void ft_lines_stack(FtLines *t, char *text)
{
  char *blank = strrchr(text, ' ');
  uint64_t count = blank ? strtoull(blank + 1, NULL, 10) : 0;
  if (!count)
    return;
  *blank = '\0';
  t->stacks++;
  t->samples += count;
  t->all_samples += count;
  count_frames(t, text, count);
}

void ft_lines_forget_bytes(FtLines *t)
{
  if (t->nbytes)
    memset(t->bytes, 0, t->nbytes * sizeof(*t->bytes));
}

void ft_lines_bytes(FtLines *t, const char *place, uint64_t bytes)
{
  uint32_t n = t->places.n, id;
  if (n >= FT_LINES_MAX)
    place = "(other lines)";
  id = place_id(t, place);
  t->bytes[id] += bytes;
  if (t->places.n != n) /* No line has it yet. */
    find_line(t, place, place);
}

/* Leaves the bytes of a place to the lines that have samples there, if there
** are any.
*/
static void drop_doubles(const FtLines *t)
{
  char *met = lp_zalloc(t->places.n + 1, 1);
  uint32_t i;
  for (i = 0; i < t->names.n; i++)
    if (t->line[i].all_self || t->line[i].total)
      met[t->place[i]] = 1;
  for (i = 0; i < t->names.n; i++) {
    FtLine *l = &t->line[i];
    l->bytes = t->bytes[t->place[i]];
    if (met[t->place[i]] && !l->all_self && !l->total)
      l->bytes = 0;
  }
  free(met);
}

/* -- Sorting -------------------------------------------------------------- */

static const FtLines *sorted; /* qsort has no context. */

static int more_first(uint64_t a, uint64_t b)
{
  return a < b ? 1 : a > b ? -1 : 0;
}

static int by_name(const void *a, const void *b)
{
  return strcmp(ft_lines_name(sorted, a), ft_lines_name(sorted, b));
}

static int by_self(const void *a, const void *b)
{
  const FtLine *x = a, *y = b;
  int order = more_first(x->self, y->self);
  order = order ? order : more_first(x->all_self, y->all_self);
  return order ? order : by_name(a, b);
}

static int by_total(const void *a, const void *b)
{
  const FtLine *x = a, *y = b;
  int order = more_first(x->total, y->total);
  return order ? order : by_self(a, b);
}

static int by_bytes(const void *a, const void *b)
{
  const FtLine *x = a, *y = b;
  int order = more_first(x->bytes, y->bytes);
  return order ? order : by_self(a, b);
}

size_t ft_lines_sorted(FtLines *t, FtSort sort, FtLine **out)
{
  static int (*const order[])(const void *, const void *) = {by_self, by_total,
                                                             by_name, by_bytes};
  FtLine *copy = lp_alloc((t->names.n + 1) * sizeof(*copy));
  size_t n = 0;
  uint32_t i;
  drop_doubles(t);
  for (i = 0; i < t->names.n; i++) {
    const FtLine *l = &t->line[i];
    if (l->total || l->all_self || l->bytes)
      copy[n++] = *l;
  }
  sorted = t;
  qsort(copy, n, sizeof(*copy), order[sort]);
  *out = copy;
  return n;
}

const char *ft_lines_name(const FtLines *t, const FtLine *l)
{
  size_t n;
  return lp_intern_get(&t->names, l->id, &n);
}

void ft_lines_free(FtLines *t)
{
  lp_intern_free(&t->names);
  lp_intern_free(&t->places);
  free(t->line);
  free(t->bytes);
  free(t->place);
  *t = (FtLines){0};
}
