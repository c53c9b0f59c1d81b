/*
** Where a report goes: a file descriptor with a buffer, that remembers the
** first error.
*/

#ifndef LP_OUT_H
#define LP_OUT_H

#include "mem.h"

typedef struct LpOut {
  int fd;    /* -1: everything stays in the buffer. */
  int error; /* errno of the first write that failed. */
  LpBuf buf;
} LpOut;

void lp_out_open(LpOut *o, int fd);
void lp_out_puts(LpOut *o, const char *s);
#define lp_out_printf(o, ...)                                                  \
  (lp_buf_printf(&(o)->buf, __VA_ARGS__), lp_out_step(o))
void lp_out_step(LpOut *o);
void lp_out_flush(LpOut *o);
void lp_out_close(LpOut *o);

#endif
