/*
** The objects of a live VM, seen from another process.
**
** Nothing is believed: a reference leads to an object only if its header says
** so, and sizes are bounded before they are used.
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

void ls_view_init(LsView *v, LsRemote *mem, const struct ljs_vm *vm);

uint64_t ls_view_ref(LsView *v, uint64_t addr);
LsValue ls_view_value(LsView *v, uint64_t addr);
LsValue ls_view_decode(const LsView *v, uint64_t bits);
uint8_t ls_view_type(LsView *v, uint64_t obj);
size_t ls_view_string(LsView *v, uint64_t str, char *buf, size_t size);
bool ls_view_isstring(LsView *v, LsValue value, const char *s);

/* The hash part of a table. */
typedef struct LsTable {
  uint64_t node;
  uint32_t n; /* Number of nodes. */
} LsTable;

bool ls_view_table(LsView *v, uint64_t tab, LsTable *t);
void ls_view_node(LsView *v, const LsTable *t, uint32_t i, LsValue *key,
                  LsValue *value);
bool ls_view_get(LsView *v, uint64_t tab, const char *key, LsValue *value);

#endif
