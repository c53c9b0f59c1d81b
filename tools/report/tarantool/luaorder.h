/*
** The order in which LuaJIT visits and sorts a table.
**
** The tool whose text --format=tarantool prints is written in Lua. Where two
** rows count the same, its order is that of pairs() over a table with strings
** as keys, through table.sort(). Both are determined by the keys and by the
** order in which they came, in all versions of that LuaJIT.
*/

#ifndef LP_LUAORDER_H
#define LP_LUAORDER_H

#include <stddef.h>
#include <stdint.h>

typedef struct LpLuaSlot {
  uint32_t hash;
  uint32_t value; /* + 1; 0: it is free. */
} LpLuaSlot;

/* A table, whose keys are known by their hashes only. All 0: an empty one. */
typedef struct LpLuaTable {
  LpLuaSlot *slot;
  uint32_t size; /* Slots: 0 or a power of two. */
  uint32_t free; /* No slot from here on is free. */
  uint32_t n;    /* Keys. */
} LpLuaTable;

/* Is X before Y? As the function that table.sort() gets: less than, and never
** both.
*/
typedef int (*LpLuaBefore)(const void *ctx, uint32_t x, uint32_t y);

/* Add a VALUE, below LP_NONE, by a key of N bytes, which the table must not
** have yet.
*/
void lp_luatable_add(LpLuaTable *t, const void *key, size_t n, uint32_t value);

/* Copy all values to VALUE, which has room for t->n, as pairs() visits them.
** Returns t->n.
*/
uint32_t lp_luatable_pairs(const LpLuaTable *t, uint32_t *value);

/* Free the memory. The table is empty then. */
void lp_luatable_free(LpLuaTable *t);

/* Sort N values as table.sort() does: equal ones change places, but always the
** same way. Returns 0, with the values in any order, if that would take far
** longer than is usual, as for an order that was made for it.
*/
int lp_luasort(uint32_t *value, size_t n, LpLuaBefore before, const void *ctx);

#endif
