/*
** Reader of the objects of a live VM in another process.
**
** All of it is untrusted: a reference leads to an object only if its header
** says so, and sizes are bounded before they are used. What cannot be read sets
** `bad` of the LsRemote, and reads as 0.
*/

#ifndef LS_LUAVIEW_H
#define LS_LUAVIEW_H

#include "ljs.h"
#include "remote.h"
#include "vmlayout.h"

#define LS_NAME_MAX  200  /* Longer names of functions are cut. */
#define LS_CHUNK_MAX 4096 /* Longer names of chunks are cut. */

/* One VM's build and the process that it is in. */
typedef struct LsView {
  LsRemote *mem;
  struct ljs_vm vm;
  const LsLayout *lay;
  uint8_t strlen; /* Where strings have their length: 0 before it is known. */
} LsView;

/* A Lua value. `type` is that of an object, or LS_GCT_NONE. */
#define LS_GCT_NONE 0xff
typedef struct LsValue {
  uint8_t type;
  uint64_t addr;
} LsValue;

/* Initialize *V for a VM of the build *VM, which is copied. MEM belongs to the
** caller and must live as long.
*/
void ls_view_init(LsView *v, LsRemote *mem, const struct ljs_vm *vm);

/* The reference at an address. */
uint64_t ls_view_ref(LsView *v, uint64_t addr);
/* The Lua value at an address. */
LsValue ls_view_value(LsView *v, uint64_t addr);
/* The Lua value of 8 bytes. */
LsValue ls_view_decode(const LsView *v, uint64_t bits);
/* The type of the object at OBJ, as its header has it; or LS_GCT_NONE. */
uint8_t ls_view_type(LsView *v, uint64_t obj);
/* Copy the string at STR to BUF, with a NUL; it is cut to SIZE - 1 bytes.
** Returns its length in BUF, 0 if it is no string.
*/
size_t ls_view_string(LsView *v, uint64_t str, char *buf, size_t size);
/* The hash part of a table. */
typedef struct LsTable {
  uint64_t node;
  uint32_t n; /* Number of nodes. */
} LsTable;

/* Find the hash part of the table at TAB. Returns false if it is no table, or
** too large.
*/
bool ls_view_table(LsView *v, uint64_t tab, LsTable *t);
/* Read the key and the value of node number I, which is less than t->n. */
void ls_view_node(LsView *v, const LsTable *t, uint32_t i, LsValue *key,
                  LsValue *value);
/* Look up a string key in a table, without metamethods. Returns false if it is
** not there.
*/
bool ls_view_get(LsView *v, uint64_t tab, const char *key, LsValue *value);

#endif
