/*
** The functions that call frame information tells of, and where their programs
** are: what is in .eh_frame, or .debug_frame.
*/

#ifndef LS_FRAMES_H
#define LS_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "cfi.h"
#include "elf.h"

/* A function, or a part of one. */
typedef struct LsFrame {
  uint64_t lo, hi;     /* Its addresses; HI is behind the last one. */
  const uint8_t *code; /* Its program, in the ELF file's memory. */
  uint32_t n;          /* Bytes of that. */
  uint32_t cie;        /* Number of its CIE. */
} LsFrame;

typedef struct LsFrames {
  LsCie *cie;
  size_t ncie, cap_cie;
  LsFrame *fde; /* As they are in the file. */
  size_t nfde, cap_fde;
} LsFrames;

/* Read all that E has, which must stay open as long as they are in use. What
** makes no sense is left out; an ELF file without any has no functions here.
** Returns -1 and errno if there is not enough memory.
*/
int ls_frames_read(const LsElf *e, LsFrames *f);

/* Give the memory back. */
void ls_frames_free(LsFrames *f);

#endif
