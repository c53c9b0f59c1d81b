/*
** The kernel's own timer tick: how often it is, and how the BPF program knows
** it.
*/

#ifndef LS_TICK_H
#define LS_TICK_H

#include <stddef.h>
#include <stdint.h>

/* Where else a CPU's own variables are, from the timer of its tick. */
typedef struct LsTick {
  int64_t bases; /* To hrtimer_bases, which all of its timers lead to; */
  int64_t regs;  /* to __irq_regs, which points to what was interrupted. */
} LsTick;

/* The ticks of a CPU a second; 0 if the tick is no high resolution timer, which
** is the only kind that can be sampled.
*/
unsigned ls_tick_hz(void);

/* Find the offsets *T by the kernel's BTF. Returns 0, or -1 with one line in
** WHY, of SIZE bytes.
*/
int ls_tick_find(LsTick *t, char *why, size_t size);

#endif
