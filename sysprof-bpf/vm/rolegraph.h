/*
** What finds the roles of a VM's functions has in common: the call graph with
** what is known so far, and sets of functions.
*/

#ifndef LS_ROLEGRAPH_H
#define LS_ROLEGRAPH_H

#include "callgraph.h"
#include "vmroles.h"

#define ROLES_SMALL   512 /* Bytes of a function that does one thing, */
#define ROLES_MEM     128 /* of one that calls the allocator, */
#define ROLES_BARRIER 64  /* and of one that is inlined where it can be. */

/* Functions of the API that others are identified by. */
enum {
  LUA_GC,
  LUA_CREATETABLE,
  LUA_NEWUSERDATA,
  LUA_PUSHCCLOSURE,
  LUA_PUSHLSTRING,
  LUA_NEWSTATE,
  LUAL_NEWSTATE,
  LUA_CLOSE,
  LUA_LOADX,
  LUA_RAWGET,
  LUA_RAWGETI,
  LUA_RAWSET,
  LUA_RAWSETI,
  LUA_NEXT,
  LUA_OBJLEN,
  LUA_TYPE,
  LUA_TOLSTRING,
  LUA_CONCAT,
  LUA_RAWEQUAL,
  LUAL_GETMETAFIELD,
  STR_HASH_INIT,

  LUA_SETALLOCF,
  NANCHOR
};

typedef struct LsRoles {
  LsElf *elf;
  LsCallGraph g;
  uint8_t *role;
  uint8_t *exported;     /* It has a name; or it is of the linker, as .plt. */
  uint8_t *api;          /* It can be called by others: of the C API. */
  uint8_t *entry;        /* Of the other exported ones: it calls only the VM. */
  uint8_t *gate, *a, *b; /* Sets of functions. */
  uint32_t *stack;
  uint32_t anchor[NANCHOR]; /* LS_FUNC_NONE: there is none. */
  uint64_t cpcall;          /* lj_vm_cpcall; 0: not known. */
  uint32_t step, onestep;   /* Of the collector. */
  uint32_t strnew;
  int alone; /* Nothing but the VM is exported: the file is a VM. */
} LsRoles;

/* Whether FROM calls TO. FROM may be LS_FUNC_NONE: it does not. */
int ls_roles_calls(const LsRoles *r, uint32_t from, uint32_t to);

/* Whether F can be identified: it has no name, and is code of the VM's in C. */
int ls_roles_inner(const LsRoles *r, uint32_t f);

/* The edges of a function, *N of them. They belong to the graph. */
const LsEdge *ls_roles_edges(const LsRoles *r, uint32_t f, uint32_t *n);

/* The same, of one whose edges are compared with those of others: not more than
** a function of a VM has.
*/
const LsEdge *ls_roles_few(const LsRoles *r, uint32_t f, uint32_t *n);

/* Whether a callee is the one that is looked for. */
typedef int LsRolesTest(const LsRoles *r, uint32_t f);

/* The only callee of FROM, of the VM's own, that passes; or LS_FUNC_NONE. */
uint32_t ls_roles_callee(const LsRoles *r, uint32_t from, LsRolesTest *test);

/* Set the role of a function that has none. Returns 0 if it has one, has a name
** or is LS_FUNC_NONE.
*/
int ls_roles_assign(LsRoles *r, uint32_t f, LsRole role);

/* Empty a set. */
void ls_roles_clear(const LsRoles *r, uint8_t *set);

/* Put into r->b what is dominated by the functions in r->gate, and they.
** Returns its size in bytes of code. r->a is used.
*/
uint64_t ls_roles_dominated(LsRoles *r);

/* Functions that are dominated by those in r->gate have a role, unless they
** have one. r->a and r->b are used.
*/
void ls_roles_assign_dominated(LsRoles *r, LsRole role);

/* Put into SET the functions that one of ROLE leads to. */
void ls_roles_led_by(const LsRoles *r, LsRole role, uint8_t *set);

/* Find the collector: its step, its marks, its barriers. Returns 0 if it is not
** found.
*/
int ls_roles_collector(LsRoles *r);

/* Find what else only the collector and the end of a VM lead to: sweeping, and
** finalizers. ALLOCF is the allocator: its address is taken where a VM ends.
*/
void ls_roles_sweep(LsRoles *r, uint32_t allocf);

/* Find the VM's own allocator: its address is taken where a state is made, in
** MAKER, and where it is closed. Returns LS_FUNC_NONE if it is not found.
*/
uint32_t ls_roles_allocator(LsRoles *r, uint32_t maker);

/* Find what the VM allocates by: it calls the allocator, and if there is no
** memory the function that throws the error.
*/
void ls_roles_mem(LsRoles *r);

/* Find lj_vm_cpcall: the only address of the interpreter that lua_loadx calls.
** It is in r->cpcall, 0 if it is not found.
*/
void ls_roles_cpcall(LsRoles *r);

/* Find the lexer and parser. */
void ls_roles_parser(LsRoles *r);

/* Find the JIT compiler. Needs r->cpcall. */
void ls_roles_jit(LsRoles *r);

/* Find what makes strings. Needs the collector. */
void ls_roles_strings(LsRoles *r);

/* Find what works with tables. Needs strings and the allocator. */
void ls_roles_tables(LsRoles *r);

/* Find what formats numbers and fills buffers. Needs all of these. */
void ls_roles_text(LsRoles *r);

#endif
