/*
** Which processes might have a VM, by the machine code of their files.
*/

#include <errno.h>
#include <unistd.h>

#include "budget.h"
#include "maps.h"
#include "suspect.h"

#define FILES_MAX 65536      /* Files that are remembered. */
#define LOOK_NS   1000000000 /* For the files of one process, at a time. */

/* Whether a file of PID might have a VM; -1 if there was no time to see. */
static int look(LsSuspects *s, pid_t pid, const LsMapping *map)
{
  int fd = ls_maps_open(pid, map), yes, err;
  if (fd < 0)
    return 0;
  yes = ls_parser_suspect(s->parser, fd, map->offset);
  err = errno;
  close(fd);
  if (yes < 0 && err == ECANCELED)
    return -1;
  return yes > 0;
}

/* A file that was looked at, and the answer. */
typedef struct Look {
  uint64_t dev, ino;
  uint64_t yes;
} Look;

/* The answer for a file, looked at if it is new. */
static int suspect(LsSuspects *s, pid_t pid, const LsMapping *map)
{
  const uint64_t key[2] = {map->dev, map->ino};
  Look *l = ls_hash_find(&s->files, key, sizeof(key), sizeof(*l));
  int yes;
  if (l)
    return (int)l->yes;
  yes = look(s, pid, map);
  if (yes < 0)
    return 0; /* The next time. */
  if (s->files.n >= FILES_MAX)
    ls_hash_clear(&s->files);
  l = ls_hash_put(&s->files, key, sizeof(key), sizeof(*l));
  if (l)
    l->yes = (uint64_t)yes;
  return yes;
}

int ls_suspect(LsSuspects *s, pid_t pid)
{
  uint64_t end = ls_budget_now() + LOOK_NS;
  LsMapping *map;
  size_t n, i;
  int yes = 0;
  if (ls_maps_read(pid, &map, &n))
    return 0;
  for (i = 0; i < n && !yes && ls_budget_now() < end; i++)
    yes = map[i].ino && suspect(s, pid, &map[i]);
  ls_maps_free(map, n);
  return yes;
}

void ls_suspects_free(LsSuspects *s)
{
  ls_hash_free(&s->files);
}
