/*
** Snapshots of a trace: where in the program its code is, and which functions
** were inlined there.
*/

#ifndef LS_LUASNAP_H
#define LS_LUASNAP_H

#include "luatrace.h"

#define LS_REF_BIAS    0x8000  /* Constants are below, code is from here on. */
#define LS_SNAPMAP_MAX 0x40000 /* Entries of a map: more is no trace. */

/* A trace's header, and where its parts are in the process. */
typedef struct LsIr {
  LsView *v;
  uint32_t nsnap, nins, nk, nsnapmap; /* As VMs have had them since 2019. */
  uint64_t ir, snap, snapmap;
  uint64_t startpt, startpc, mcode;
  uint32_t szmcode, mcloop, traceno, link, root;
  uint8_t *k;    /* Copies: constants, from number nk on; */
  uint32_t *map; /* the map of snapshots. */
} LsIr;

/* Read the snapshots of a trace to T->snap and T->place, which belong to T,
** with the functions that its constants refer to. Without memory, or if they
** make no sense, there are none.
*/
void ls_snaps_read(LsFuncs *fs, LsIr *t, LsTrace *T);

#endif
