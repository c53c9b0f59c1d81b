/*
** The memory of a process in a file, for the fuzzer: this header, then pages,
** each with its address in front.
*/

#ifndef FAKE_H
#define FAKE_H

#include "ljs.h"

#define LS_FAKE_FRAMES 24

typedef struct LsFake {
  __u64 l, g;
  __u32 lo, hi;
  __s32 g2disp, vmstate, cur_l, trace;
  __u8 gc64, jit;
  struct ljs_frame frame[LS_FAKE_FRAMES];
} LsFake;

#endif
