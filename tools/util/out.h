/*
** Buffered output to a file descriptor, which keeps the first error.
*/

#ifndef LP_OUT_H
#define LP_OUT_H

#include "mem.h"

typedef struct LpOut {
  int fd;          /* -1: everything stays in the buffer. */
  int error;       /* errno of the first write that failed. */
  const char *cut; /* What its writer left out to keep to a bound; NULL:
                   ** nothing. A static string, for people. */
  LpBuf buf;
  /* Called before each write, with LAST before the final one; may change buf
  ** and fd. NULL: is not.
  */
  void (*before)(struct LpOut *o, int last);
  void *ctx; /* For that. */
} LpOut;

/* Start to write to FD, which the caller owns; -1 keeps all in the buffer. */
void lp_out_open(LpOut *o, int fd);

/* Write a C string. */
void lp_out_puts(LpOut *o, const char *s);

#define lp_out_printf(o, ...)                                                  \
  (lp_buf_printf(&(o)->buf, __VA_ARGS__), lp_out_step(o))

/* Flush the buffer if it is full. To be called after adding to o->buf. */
void lp_out_step(LpOut *o);

/* Flush and free the buffer. The file descriptor stays open. */
void lp_out_close(LpOut *o);

#endif
