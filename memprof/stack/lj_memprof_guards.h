/*
** The frames of the last stack, and their guards: words of memory that lead
** from a frame to the one below and show where that has stopped.
*/

#ifndef _LJ_MEMPROF_GUARDS_H
#define _LJ_MEMPROF_GUARDS_H

#include "lj_memprof_frame.h"
#include "lj_memprof_samestack.h"
#include "lj_memprof_stack.h"

#define MPGUARD_PARTS 32  /* Coroutines resumed by coroutines. */
#define MPGUARD_SLACK 192 /* Functions that a trace inlines, and more. */
#define MPGUARD_SIZE  (4 * MP_MAXDEPTH + MPGUARD_SLACK)
#define MPGUARD_MAX   (3 * MPGUARD_SIZE + MPSAME_STEP)

/* A frame that a walk has passed. */
typedef struct MPWalked {
  cTValue *slot;
  cTValue *func; /* Where the caller's function is, if that is a guard. */
  uint32_t site; /* Where it was called; INTERNAL if that is no caller. */
} MPWalked;

/* A frame that is known. */
typedef struct MPFrame {
  cTValue *slot;
  struct MPFrame *low; /* An event needs those from here on. */
  uint32_t guard;      /* Its first guard. */
  uint32_t nsite;      /* Sites up to here, from the outermost frame on. */
} MPFrame;

/* A coroutine's part of the frames. */
typedef struct MPPart {
  lua_State *L;
  const TValue *stack; /* Where its stack was. */
  uint32_t first;      /* Its outermost frame. */
} MPPart;

typedef struct MPStack {
  uint32_t need;         /* Callers that an event has at most. */
  uint32_t size;         /* So many frames, and so many sites, may be known. */
  MPFrame *end;          /* Behind the known frames. */
  uint32_t npart;        /* Coroutines. */
  int cut;               /* There are more frames below. */
  int soft;              /* Some callers are not found by frames. */
  uint32_t nsent;        /* Sites that the reader knows, or is to know. */
  uintptr_t builtins;    /* Machine code of the VM's builtins, */
  uintptr_t builtinsend; /* up to the last one. */
  MPPart part[MPGUARD_PARTS]; /* Outermost first. */
  uint32_t sent[MPGUARD_SIZE];
  MPWalked walk[MPGUARD_SIZE + 1]; /* Frames of a walk, innermost first. */
  MPFrame frame[MPGUARD_SIZE + 1]; /* Known frames, outermost first. */
  uint64_t word[MPGUARD_MAX] __attribute__((aligned(16)));
  const MPWord *addr[MPGUARD_MAX]; /* Where those words are. */
} MPStack;

/* -- Guards --------------------------------------------------------------- */

/* Adds a guard behind others. */
static LJ_AINLINE uint32_t mpguard_slot(MPStack *st, uint32_t n, cTValue *slot)
{
  const MPWord *addr = (const MPWord *)(const void *)slot;
  st->addr[n] = addr;
  st->word[n] = *addr;
  return n + 1;
}

/*
** Adds the guards of a frame. A link to a Lua function is a PC: it has all,
** since no other function has it while that one lives. Below others there may
** be a C function, or a PC of its own.
*/
static LJ_AINLINE uint32_t mpguard_frame(MPStack *st, uint32_t n,
                                         const MPWalked *w)
{
  n = mpguard_slot(st, n, w->slot);
  if (LJ_UNLIKELY(w->func != NULL)) {
    n = mpguard_slot(st, n, w->func);
    if (mpframe_hascontpc(w->slot))
      n = mpguard_slot(st, n, w->slot - (1 + LJ_FR2));
  }
  return n;
}

/*
** Looks at the guards of frames from a low one up to, but not including, a high
** one. Returns the first frame that has changed, or NULL.
*/
static LJ_AINLINE MPFrame *mpguard_changed(const MPStack *st,
                                           const MPFrame *low, MPFrame *high)
{
  const MPWord *const *addr = &st->addr[low->guard];
  const MPWord *const *end = &st->addr[high->guard];
  const uint64_t *word = &st->word[low->guard];
  for (; addr + 4 <= end; addr += 4, word += 4)
    if (LJ_UNLIKELY(((*addr[0] ^ word[0]) | (*addr[1] ^ word[1]) |
                     (*addr[2] ^ word[2]) | (*addr[3] ^ word[3])) != 0))
      break;
  for (; addr < end; addr++, word++)
    if (LJ_UNLIKELY(*addr[0] != *word)) {
      while ((high - 1)->guard > (uint32_t)(addr - st->addr))
        high--;
      return high - 1;
    }
  return NULL;
}

#endif
