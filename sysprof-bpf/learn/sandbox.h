/*
** The confinement of the processes that read foreign files.
*/

#ifndef LS_SANDBOX_H
#define LS_SANDBOX_H

/* Give up all of this process but memory and the descriptor FD, which gets
** number LS_SANDBOX_FD: it is nobody, without capabilities, other descriptors,
** core dumps and the parent's signals; what it may ask of the kernel is only
** what ls_sandbox_close permits, and to make and end processes. Returns 0, or
** -1 and errno.
*/
int ls_sandbox_enter(int fd);

#define LS_SANDBOX_FD 3

/* Permit nothing any more but to read and write what is open and to have
** memory, which cannot be executed. Returns 0, or -1 and errno.
*/
int ls_sandbox_close(void);

#endif
