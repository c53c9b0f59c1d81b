/*
** The call graph of an ELF file, by its machine code: which function calls
** which, or has the address of which.
**
** Functions are the ranges of the unwind data, by number. What is called
** through a pointer that is computed is not known. Time and memory are in
** proportion to the size of the code, and bounded.
*/

#ifndef LS_CALLGRAPH_H
#define LS_CALLGRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "elf.h"
#include "rows.h"

#define LS_FUNC_NONE UINT32_MAX

/* How one function leads to another. */
enum {
  LS_EDGE_CALL = 1, /* A direct call or jump. */
  LS_EDGE_REF = 2   /* It takes the address, or that of a table with it. */
};

typedef struct LsEdge {
  uint32_t from, to;
  uint32_t kind; /* LS_EDGE_* */
} LsEdge;

/* A call into a function, behind its first instruction or not. */
typedef struct LsInto {
  uint32_t from;
  uint64_t addr;
} LsInto;

typedef struct LsCallGraph {
  const LsAddrRange *range; /* The caller's. */
  uint32_t n;
  LsEdge *edge; /* Sorted by from, to, kind. */
  size_t nedge;
  uint32_t *first; /* Of each function, its first edge; and the end. */
  uint32_t
      *owner; /* Of a part that was moved away, its function; else itself. */
  uint8_t *outside; /* It can be reached in ways that are not known. */
  LsInto *into;     /* Calls into the function HUB, by caller. */
  size_t ninto;
  uint32_t hub;
} LsCallGraph;

/* Build the graph of the N functions at RANGE, which are sorted and stay the
** caller's. Calls into the function number HUB are kept with their addresses;
** LS_FUNC_NONE: none. The caller frees *G. Returns 0, or -1 and errno: ENOMEM,
** or E2BIG if there is more code than is looked at; then there is nothing to
** free.
*/
int ls_callgraph_build(const LsElf *e, const LsAddrRange *range, size_t n,
                       uint32_t hub, LsCallGraph *g);

/* Free the memory of *G, but not G. */
void ls_callgraph_free(LsCallGraph *g);

/* The function that has ADDR, or LS_FUNC_NONE. */
uint32_t ls_callgraph_at(const LsCallGraph *g, uint64_t addr);

/* Whether FROM leads to TO by an edge of one of KINDS. */
int ls_callgraph_has(const LsCallGraph *g, uint32_t from, uint32_t to,
                     unsigned kinds);

/* Add to REACHED, a byte for each function, what can be reached from those that
** have 1 in it, without passing one that has 1 in GATE. STACK has room for all
** functions.
*/
void ls_callgraph_reach(const LsCallGraph *g, const uint8_t *gate,
                        uint8_t *reached, uint32_t *stack);

#endif
