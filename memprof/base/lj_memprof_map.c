/*
** Maps of the recorder: open addressing, linear probing, no tombstones.
** A deletion moves later entries of the same run back, so that a recording of
** a program that loads code for ever stays as small as the code that lives.
*/

#define lj_memprof_map_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdlib.h>

#include "lj_memprof_map.h"

/* Spreads a key: addresses and small numbers alike. */
static uint32_t map_home(const MPMap *m, uint64_t key)
{
  return (uint32_t)((key * U64x(9e3779b9, 7f4a7c15)) >> 32) & m->mask;
}

/* The slot of a key, or the empty slot where it would go. */
static uint32_t map_find(const MPMap *m, uint64_t key)
{
  uint32_t i = map_home(m, key);
  while (m->slot[2 * i] != 0 && m->slot[2 * i] != key)
    i = (i + 1) & m->mask;
  return i;
}

uint64_t lj_memprof_mapget(const MPMap *m, uint64_t key)
{
  return m->mask ? m->slot[2 * map_find(m, key) + 1] : 0;
}

/* Doubles the room. Returns 0 without memory, and then nothing changes. */
static int map_grow(MPMap *m)
{
  MPMap n;
  uint32_t i;
  n.mask = m->mask ? 2 * m->mask + 1 : 63;
  n.used = m->used;
  n.slot = (uint64_t *)calloc((size_t)n.mask + 1, 2 * sizeof(uint64_t));
  if (n.slot == NULL)
    return 0;
  for (i = 0; m->mask && i <= m->mask; i++) {
    if (m->slot[2 * i] != 0) {
      uint32_t to = map_find(&n, m->slot[2 * i]);
      n.slot[2 * to] = m->slot[2 * i];
      n.slot[2 * to + 1] = m->slot[2 * i + 1];
    }
  }
  free(m->slot);
  *m = n;
  return 1;
}

int lj_memprof_mapput(MPMap *m, uint64_t key, uint64_t value)
{
  uint32_t i;
  if (m->used >= m->mask / 2 + m->mask / 4 && !map_grow(m))
    return 0;
  i = map_find(m, key);
  if (m->slot[2 * i] == 0) {
    m->slot[2 * i] = key;
    m->used++;
  }
  m->slot[2 * i + 1] = value;
  return 1;
}

void lj_memprof_mapdel(MPMap *m, uint64_t key)
{
  uint32_t hole, i;
  if (m->mask == 0)
    return;
  hole = i = map_find(m, key);
  if (m->slot[2 * i] == 0)
    return;
  m->used--;
  for (;;) {
    i = (i + 1) & m->mask;
    if (m->slot[2 * i] == 0)
      break;
    /* An entry may move back to the hole if its home is not behind it. */
    if (((i - map_home(m, m->slot[2 * i])) & m->mask) >=
        ((i - hole) & m->mask)) {
      m->slot[2 * hole] = m->slot[2 * i];
      m->slot[2 * hole + 1] = m->slot[2 * i + 1];
      hole = i;
    }
  }
  m->slot[2 * hole] = m->slot[2 * hole + 1] = 0;
}

void lj_memprof_mapfree(MPMap *m)
{
  free(m->slot);
  m->slot = NULL;
  m->mask = m->used = 0;
}

#endif
