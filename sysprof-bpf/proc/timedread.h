/*
** Reading the memory of a process that may hold up its reader: a page that
** userfaultfd or a FUSE file system serves may come at any time.
**
** A thread reads for us. If it waits for too long, it is left behind, as
** nothing can interrupt it, and its process is not read from for a while. The
** thread ends when the page comes, or with this process. As long as it runs, or
** waits for a CPU, nobody holds it up.
*/

#ifndef LS_TIMEDREAD_H
#define LS_TIMEDREAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Milliseconds until a reader that waits is left behind, ten times as many for
** one that runs; how many of these one user's processes may hold up.
*/
#define LS_TIMEDREAD_MS   100
#define LS_TIMEDREAD_USER 8

/* Reads up to N bytes at ADDR of PID to BUF, as process_vm_readv; runs in a
** thread of its own. Returns the number of bytes, or -1.
*/
typedef ssize_t LsReadFunc(pid_t pid, uint64_t addr, void *buf, size_t n);

/* Copy N bytes at ADDR of process PID to BUF by READ. Returns 0; or -1 if they
** are not all there, did not come within LS_TIMEDREAD_MS, or the process held
** us up a short time ago, or too many of its user's did. For one thread only.
*/
int ls_timedread(LsReadFunc *read, pid_t pid, uint64_t addr, void *buf,
                 size_t n);

/* End the thread that waits for work: the next one has the privileges that the
** caller has then. Once in a process, as its memory stays.
*/
void ls_timedread_end(void);

/* How often PID has held up a reader of late; 0 for almost every process. */
unsigned ls_timedread_held(pid_t pid);

#endif
