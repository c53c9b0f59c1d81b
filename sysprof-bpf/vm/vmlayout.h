/*
** The layouts of LuaJIT's objects: the same in all 2.1 versions, but for the
** width of references.
*/

#ifndef LS_VMLAYOUT_H
#define LS_VMLAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "ljs.h"

/* Offsets in bytes that `struct ljs_vm` does not have: only names need them. */
typedef struct LsLayout {
  uint8_t ref;    /* Size of a reference. */
  uint8_t marked; /* Of every object: its type is right behind. */
  uint8_t pt_numparams, pt_framesize, pt_sizekn, pt_sizept, pt_sizeuv, pt_uv;
  uint8_t fn_nupvalues, fn_upvalue; /* Of C functions: values. */
  uint8_t fn_uvptr;                 /* Of Lua functions: references. */
  uint8_t uv_v;                     /* Upvalue: where its value is. */
  uint8_t tab_array, tab_meta, tab_node, tab_asize, tab_hmask;
  uint8_t node;       /* Size of a node: its value, then its key. */
  uint8_t t_mcloop;   /* GCtrace. */
  uint8_t t_nextroot; /* Likewise. */
} LsLayout;

/* Types of objects, as their header has them. */
enum {
  LS_GCT_STR = 4,
  LS_GCT_UPVAL,
  LS_GCT_THREAD,
  LS_GCT_PROTO,
  LS_GCT_FUNC,
  LS_GCT_TRACE,
  LS_GCT_CDATA,
  LS_GCT_TAB,
  LS_GCT_UDATA
};

/* Reset *VM to the fields of objects for vm->gc64, all others zero. */
void ls_vm_fields(struct ljs_vm *vm);

/* The rest of the layout of a VM's objects. Static. */
const LsLayout *ls_vm_layout(const struct ljs_vm *vm);

#endif
