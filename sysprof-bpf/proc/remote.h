/*
** Reading the memory of another process, which runs on meanwhile: whatever is
** read may be half written, freed or never have been what it seems.
*/

#ifndef LS_REMOTE_H
#define LS_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The function that reads: by default process_vm_readv, in a thread of its own
** (timedread.h). Tests replace it.
*/
typedef int LsRemoteReader(pid_t pid, uint64_t addr, void *buf, size_t n);
extern LsRemoteReader *ls_remote_reader;

/* Copy N bytes at ADDR of process PID to BUF: 0, or -1 if they are not all
** there, or do not come within a tenth of a second. The process is not stopped,
** and never written to.
*/
int ls_remote_read(pid_t pid, uint64_t addr, void *buf, size_t n);

#define LS_REMOTE_PAGE  4096
#define LS_REMOTE_PAGES 64

/* A process and the pages of it that were read a moment ago. */
typedef struct LsRemote {
  pid_t pid;
  bool bad;                       /* Something could not be read. */
  uint64_t page[LS_REMOTE_PAGES]; /* Their addresses, | 1 if there. */
  uint8_t data[LS_REMOTE_PAGES][LS_REMOTE_PAGE];
} LsRemote;

/* Forget all pages, and clear `bad`. */
void ls_remote_moment(LsRemote *r);

/* Copy N bytes at ADDR to BUF. Returns false if they are not all there: then
** BUF is zeroed and `bad` set.
*/
bool ls_remote_get(LsRemote *r, uint64_t addr, void *buf, size_t n);

/* An unsigned number of SIZE bytes: 1, 2, 4 or 8. Returns 0 and sets `bad` if
** it is not there.
*/
uint64_t ls_remote_uint(LsRemote *r, uint64_t addr, size_t size);

#endif
