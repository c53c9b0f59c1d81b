/*
** Recordings of more than 16 KiB, of every version, of a program that nobody
** wrote: what happens there is drawn, but always the same.
*/

#ifndef RECORDING_H
#define RECORDING_H

#include "mem.h"

typedef enum RecordingKind {
  REC_MEMORY, /* Version 0x10, with stacks and types. */
  REC_CPU,    /* Version 0x10. */
  REC_DRAFT,  /* The RFC's version 1, with vm-addr. */
  REC_1,      /* Versions of the field. */
  REC_2,
  REC_3,
  NRECORDING
} RecordingKind;

#define RECORDING_BLOCKS 100 /* At most. */

typedef struct Recording {
  LpBuf b;
  size_t body;                          /* Where the events or samples begin. */
  size_t nblock;                        /* Blocks of version 0x10, */
  size_t at[RECORDING_BLOCKS + 1];      /* where each begins, */
  uint64_t first[RECORDING_BLOCKS + 1]; /* and events before it. */
  uint64_t events;
} Recording;

void recording_make(Recording *r, RecordingKind kind);

#endif
