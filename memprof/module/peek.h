/*
** Reads memory that may not be there: what does not fit must not crash.
*/

#ifndef LJM_PEEK_H
#define LJM_PEEK_H

#include <stddef.h>
#include <stdint.h>

/* A pipe that memory is read through: the kernel knows what can be read. */
typedef struct MPPeek {
  int fd[2];
} MPPeek;

/* Opens it. Returns 0 with errno set if the process can have no pipe. */
int mp_peek_open(MPPeek *pk);

/* Closes one that is open. */
void mp_peek_close(MPPeek *pk);

/* Copies size bytes, at most 4096, from addr. Returns 0 if they cannot be
** read.
*/
int mp_peek(MPPeek *pk, uint64_t addr, void *to, size_t size);

#endif
