/*
** The order in which files are read. A shell sorts FILE, the newest segment,
** before FILE.1, but what a segment frees is known by the one before it.
*/

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "idmap.h"
#include "load_order.h"
#include "mem.h"
#include "segment.h"

typedef struct Item {
  const char *name;
  size_t place;    /* Of the first file of the recording, */
  uint64_t number; /* which segment it is; */
  size_t at;       /* and where it was. */
} Item;

/* The segment that a file is. Returns 0 if it is none; others are not
** opened.
*/
static int order_peek(const char *name, LpSegment *s)
{
  struct stat st;
  int fd, res;
  if (stat(name, &st) || !S_ISREG(st.st_mode))
    return 0;
  fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return 0;
  res = lp_segment_peek(fd, s);
  close(fd);
  return res;
}

/* For qsort: by recording, then by segment, then as they were given. */
static int order_of(const void *a, const void *b)
{
  const Item *x = a, *y = b;
  if (x->place != y->place)
    return x->place < y->place ? -1 : 1;
  if (x->number != y->number)
    return x->number < y->number ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

const char **lp_load_order(const char *const *name, size_t n)
{
  Item *item = lp_alloc((n + 1) * sizeof(*item));
  const char **order = lp_alloc((n + 1) * sizeof(*order));
  LpIdMap first = {0};
  size_t i;
  for (i = 0; i < n; i++) {
    LpSegment s;
    item[i] = (Item){name[i], i, 0, i};
    if (n < 2 || i >= LP_NONE || !order_peek(name[i], &s))
      continue;
    item[i].number = s.number;
    item[i].place = lp_idmap_add(&first, s.recording, (uint32_t)i);
  }
  qsort(item, n, sizeof(*item), order_of);
  for (i = 0; i < n; i++)
    order[i] = item[i].name;
  lp_idmap_free(&first);
  free(item);
  return order;
}
