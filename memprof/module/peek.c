/*
** Reads memory that may not be there.
*/

#define _GNU_SOURCE
#include "peek.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int mp_peek_open(MPPeek *pk)
{
  return pipe2(pk->fd, O_CLOEXEC | O_NONBLOCK) == 0;
}

void mp_peek_close(MPPeek *pk)
{
  close(pk->fd[0]);
  close(pk->fd[1]);
}

int mp_peek(MPPeek *pk, uint64_t addr, void *to, size_t size)
{
  ssize_t put, got;
  do {
    put = write(pk->fd[1], (const void *)(uintptr_t)addr, size);
  } while (put < 0 && errno == EINTR);
  if (put <= 0)
    return 0;
  do {
    got = read(pk->fd[0], to, (size_t)put);
  } while (got < 0 && errno == EINTR);
  return got == put && (size_t)put == size;
}
