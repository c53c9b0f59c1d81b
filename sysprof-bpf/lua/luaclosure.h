/*
** Closures of a live VM: the functions that ran, with the variables of their
** surroundings that they hold.
*/

#ifndef LS_LUACLOSURE_H
#define LS_LUACLOSURE_H

#include "luafunc.h"

/* A closure of a Lua function, and a copy of its proto. */
typedef struct LsClosure {
  uint64_t fn;  /* The GCfunc. */
  uint32_t nuv; /* Upvalues. */
  LsBlob b;
} LsClosure;

/* Where a variable or a closure was made: the address of the bytecode of the
** function in which it is local, as far as it is known.
*/
typedef struct LsHome {
  uint32_t addr; /* Low bits of the address, */
  uint32_t mask; /* these: 0 if nothing is known. */
} LsHome;

/* One upvalue. */
typedef struct LsUpvalue {
  const char *name; /* In the copy of the proto; NULL if stripped. */
  bool constant;    /* Not assigned to after it was made. */
  uint8_t slot;     /* Of the function that it is local in; or 255. */
  LsHome home;
  LsValue value;
} LsUpvalue;

/* Copy the closure at an address. Returns false if there is none that makes
** sense. The caller frees *C by ls_closure_free.
*/
bool ls_closure_read(LsView *v, uint64_t fn, LsClosure *c);

/* Free the memory of *C, but not C. */
void ls_closure_free(LsClosure *c);

/* The address of the proto of the closure at an address, and its
** ljs_check_proto(). Returns 0 if there is none.
*/
uint64_t ls_closure_proto(LsView *v, uint64_t fn, uint64_t *check);

/* Read upvalue number I of the closure. Returns false if there is none. Its
** name belongs to *C.
*/
bool ls_closure_upvalue(const LsClosure *c, uint32_t i, LsUpvalue *u);

/* Read the value of upvalue number I of the closure at FN. Returns false if it
** is assigned to after it was made, or there is none.
*/
bool ls_closure_constant(LsView *v, uint64_t fn, uint32_t i, LsValue *value);

/* Where a closure was made, by a variable of there that it holds. */
LsHome ls_closure_home(const LsClosure *c);

/* True unless the two are known to be different. */
bool ls_home_same(LsHome a, LsHome b);

/* Name the function of CHILD by the one that HOME is of. Returns as
** ls_func_define(), and -1 if that is not known.
*/
int ls_home_define(LsFuncs *fs, LsHome home, const LsBlob *child);

#endif
