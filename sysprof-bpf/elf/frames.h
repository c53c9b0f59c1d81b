/*
** The entries of call frame information, CIEs and FDEs: what is in .eh_frame,
** or in .debug_frame.
*/

#ifndef LS_FRAMES_H
#define LS_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "cfi.h"
#include "elf.h"

/* A frame description entry: of a function, or of a part of one. */
typedef struct LsFde {
  uint64_t lo, hi;     /* Its addresses; HI is behind the last one. */
  const uint8_t *code; /* Its instructions, in the memory of the LsElf. */
  uint32_t n;          /* Bytes of that. */
  uint32_t cie;        /* Number of its CIE. */
} LsFde;

typedef struct LsFrames {
  LsCie *cie;
  size_t ncie, cap_cie;
  LsFde *fde; /* In the order of the file. */
  size_t nfde, cap_fde;
} LsFrames;

/* Read all entries of E, which must stay open as long as they are in use. Those
** that make no sense are left out; a file without any has none. The caller
** frees *F. Returns 0, or -1 and errno ENOMEM: then there is nothing to free.
*/
int ls_frames_read(const LsElf *e, LsFrames *f);

/* Free the memory of *F, but not F. */
void ls_frames_free(LsFrames *f);

#endif
