/*
** Snapshots of a trace: where in the program its code is, and which functions
** were inlined there.
*/

#ifndef LS_LUASNAP_H
#define LS_LUASNAP_H

#include "luatrace.h"

#define LS_REF_BIAS    0x8000  /* Constants are below, code is from here on. */
#define LS_SNAPMAP_MAX 0x40000 /* Entries of a map: more is no trace. */

/* Operations of the IR whose numbers are the same in all of 2.1. */
enum {
  LS_IR_ORDERED = 8, /* Comparisons of order are below it, */
  LS_IR_ABC = 10,    /* and those for equality below this one. */
  LS_IR_RETF = 11,
  LS_IR_LOOP = 17
};
#define LS_IRT_GUARD 0x80 /* Of a type: it leaves the trace if it fails. */

/* An IR instruction. */
typedef struct LsIns {
  uint16_t op1, op2;
  uint8_t type, op;
  uint8_t reg, spill;
} LsIns;

/* A trace's header, and where its parts are in the process. */
typedef struct LsIr {
  LsView *v;
  uint64_t g;                         /* Global state, or 0. */
  uint32_t nsnap, nins, nk, nsnapmap; /* As VMs have had them since 2019. */
  uint64_t ir, snap, snapmap;
  uint64_t startpt, startpc, mcode;
  uint32_t szmcode, mcloop, traceno, link, root;
  uint8_t *k;    /* Copies: constants, from number nk on; */
  LsIns *ins;    /* instructions, from number LS_REF_BIAS on; */
  uint32_t *map; /* the map of snapshots. */
} LsIr;

/* Read the snapshots of a trace to T->snap and T->place, which belong to T,
** with the functions that its constants refer to. Without memory, or if they
** make no sense, there are none.
*/
void ls_snaps_read(LsFuncs *fs, LsIr *t, LsTrace *T);

#endif
