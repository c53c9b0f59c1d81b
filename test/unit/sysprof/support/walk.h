/*
** The unwinder of the BPF program, in user space: over the memory and the
** tables that it is given.
*/

#ifndef WALK_H
#define WALK_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "ljs.h"

/* Reads N bytes at ADDR to DST. Returns 0, or -1 if they are not all there. */
typedef int WalkReader(void *ctx, void *dst, uint32_t n, uint64_t addr);

/* A module's tables, as the BPF program has them. */
typedef struct WalkModule {
  struct ljs_module m;
  struct ljs_row *row;
} WalkModule;

/* What is walked. Nothing of it belongs to the walk. */
typedef struct WalkInput {
  WalkReader *read;
  void *ctx;
  const struct ljs_proc *proc;
  WalkModule *module; /* Number ID is at ID; */
  uint32_t nmodule;   /* 0 is none. */
  uint64_t pc, sp, bp, bx, dx;
  uint32_t nonative, nolua;   /* Frames that are not wanted. */
  uint32_t maxnative, maxlua; /* 0: as many as there is room for. */
} WalkInput;

/* The stack, and how it was found. */
typedef struct Walk {
  struct ljs_stack out;
  uint64_t at[LJS_MAX_FRAMES]; /* For each frame, where on the C stack: the
                               ** place of its return address, or the VM's
                               ** frame. */
  uint32_t steps, reads;
  int ended; /* It has ended by itself. */
} Walk;

/* Walk the stack. */
void walk(const WalkInput *in, Walk *out);

/* The mapping of PC, and the row that tells of it; or NULL. */
const struct ljs_map *walk_map(const WalkInput *in, uint64_t pc);
const struct ljs_row *walk_row(const WalkInput *in, const struct ljs_map *map,
                               uint64_t pc);

#endif
