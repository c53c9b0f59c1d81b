/*
** The order in which LuaJIT visits and sorts a table.
**
** Of the table, only what decides the place of a key is here. A key goes to
** the slot of its hash. If another key is there, one of the two goes to the
** last free slot: the other key if it is not at the slot of its own hash, else
** the new one. Without a free slot the table grows, and all keys are added
** again in the order of their slots. Chains are not needed: nothing looks up
** a key.
*/

#include <stdlib.h>
#include <string.h>

#include "luaorder.h"
#include "mem.h"

/* -- Hashes of strings ---------------------------------------------------- */

/* V, rotated to the left. */
static uint32_t lua_rol(uint32_t v, unsigned by)
{
  return v << by | v >> (32 - by);
}

/* The four bytes at P. */
static uint32_t lua_u32(const uint8_t *p)
{
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
         (uint32_t)p[3] << 24;
}

/* The hash of a string: of its length, begin, end, and two places between. */
static uint32_t lua_hash(const uint8_t *s, uint32_t n)
{
  uint32_t first, mid, h = n;
  if (!n)
    return 0;
  if (n < 4) {
    first = (uint32_t)(int8_t)s[0];
    h ^= (uint32_t)(int8_t)s[n - 1];
    mid = (uint32_t)(int8_t)s[n / 2];
  } else {
    first = lua_u32(s);
    h ^= lua_u32(s + n - 4);
    mid = lua_u32(s + n / 2 - 2);
  }
  h = (h ^ mid) - lua_rol(mid, 14);
  if (n >= 4)
    mid += lua_u32(s + n / 4 - 1);
  first = (first ^ h) - lua_rol(h, 11);
  mid = (mid ^ first) - lua_rol(first, 25);
  return (h ^ mid) - lua_rol(mid, 16);
}

/* -- Tables --------------------------------------------------------------- */

/* Put a key into a table that may have no room. Returns 0 then. */
static int luatable_put(LpLuaTable *t, LpLuaSlot key)
{
  LpLuaSlot *home, *spare;
  if (!t->size)
    return 0;
  home = &t->slot[key.hash & (t->size - 1)];
  if (home->value) {
    do {
      if (!t->free)
        return 0;
      spare = &t->slot[--t->free];
    } while (spare->value);
    if (&t->slot[home->hash & (t->size - 1)] != home)
      *spare = *home;
    else
      home = spare;
  }
  *home = key;
  t->n++;
  return 1;
}

/* Make room for another key: the smallest power of two, at least 2. */
static void luatable_grow(LpLuaTable *t)
{
  LpLuaTable old = *t;
  uint32_t i;
  t->size = 2;
  while (t->size < old.n + 1)
    t->size *= 2;
  t->slot = lp_zalloc(t->size, sizeof(LpLuaSlot));
  t->free = t->size;
  t->n = 0;
  for (i = 0; i < old.size; i++)
    if (old.slot[i].value)
      luatable_put(t, old.slot[i]);
  free(old.slot);
}

void lp_luatable_add(LpLuaTable *t, const void *key, size_t n, uint32_t value)
{
  LpLuaSlot s = {lua_hash(key, (uint32_t)n), value + 1};
  while (!luatable_put(t, s))
    luatable_grow(t);
}

uint32_t lp_luatable_pairs(const LpLuaTable *t, uint32_t *value)
{
  uint32_t i, n = 0;
  for (i = 0; i < t->size; i++)
    if (t->slot[i].value)
      value[n++] = t->slot[i].value - 1;
  return n;
}

void lp_luatable_free(LpLuaTable *t)
{
  free(t->slot);
  *t = (LpLuaTable){0};
}

/* -- Sorting -------------------------------------------------------------- */

#define LUASORT_USUAL 64 /* So many comparisons for each value are many. */

typedef struct LuaSort {
  uint32_t *value;
  LpLuaBefore before;
  const void *ctx;
  size_t left; /* Comparisons that may still be made. */
} LuaSort;

/* Is the value at I before that at J? */
static int luasort_less(LuaSort *s, uint32_t x, uint32_t y)
{
  s->left -= s->left > 0;
  return s->before(s->ctx, x, y);
}

static void luasort_swap(LuaSort *s, size_t i, size_t j)
{
  uint32_t v = s->value[i];
  s->value[i] = s->value[j];
  s->value[j] = v;
}

/* Swap two values, if the one at J is before that at I. Returns whether. */
static int luasort_pair(LuaSort *s, size_t i, size_t j)
{
  if (!luasort_less(s, s->value[j], s->value[i]))
    return 0;
  luasort_swap(s, i, j);
  return 1;
}

/* Divide what is between LO and HI, which are in order, and as the middle one
** that is at HI - 1 now. Returns where that one belongs, and puts it there.
*/
static size_t luasort_divide(LuaSort *s, size_t lo, size_t hi)
{
  size_t i = lo, j = hi - 1;
  uint32_t pivot = s->value[j];
  for (;;) {
    while (luasort_less(s, s->value[++i], pivot))
      ;
    while (luasort_less(s, pivot, s->value[--j]))
      ;
    if (j < i)
      break;
    luasort_swap(s, i, j);
  }
  luasort_swap(s, i, hi - 1);
  return i;
}

/* Sort three values of those from LO to HI, and divide if there are more.
** Returns where the dividing value is, or 0.
*/
static size_t luasort_part(LuaSort *s, size_t lo, size_t hi)
{
  size_t mid = (lo + hi) / 2;
  luasort_pair(s, lo, hi);
  if (hi - lo == 1)
    return 0;
  if (!luasort_pair(s, lo, mid))
    luasort_pair(s, mid, hi);
  if (hi - lo == 2)
    return 0;
  luasort_swap(s, mid, hi - 1);
  return luasort_divide(s, lo, hi);
}

/* Sort the values from LO to HI. The larger part of a division waits, so at
** most one for each halving does.
*/
static void luasort_range(LuaSort *s, size_t lo, size_t hi)
{
  size_t wait[64][2], n = 0, at;
  for (;;) {
    at = lo < hi && s->left ? luasort_part(s, lo, hi) : 0;
    if (at) {
      int low = at - lo < hi - at;
      wait[n][0] = low ? at + 1 : lo;
      wait[n++][1] = low ? hi : at - 1;
      lo = low ? lo : at + 1;
      hi = low ? at - 1 : hi;
    } else if (n) {
      lo = wait[--n][0];
      hi = wait[n][1];
    } else {
      break;
    }
  }
}

int lp_luasort(uint32_t *value, size_t n, LpLuaBefore before, const void *ctx)
{
  LuaSort s = {.before = before, .ctx = ctx};
  /* The first value is at 1, as in Lua: halves are rounded the same way, and
  ** no index is below 0.
  */
  s.value = value - 1;
  s.left = n * LUASORT_USUAL + LUASORT_USUAL;
  if (n > 1)
    luasort_range(&s, 1, n);
  return s.left > 0;
}
