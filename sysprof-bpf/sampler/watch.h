/*
** Processes that begin: children of those that are watched, and programs that
** these start.
*/

#ifndef LS_WATCH_H
#define LS_WATCH_H

#include <stddef.h>
#include <sys/types.h>

typedef struct LsWatch LsWatch;

enum {
  LS_WATCH_FORK, /* A watched process has a child, which is watched now. */
  LS_WATCH_EXEC, /* A process runs another program. */
  LS_WATCH_LOST  /* Some events are missing. */
};

/* Takes an event WHAT, LS_WATCH_*, of the process PID. */
typedef void LsWatchFunc(void *ctx, int what, pid_t pid);

/* Open it: with CHILDREN, children are told of; with EVERY, programs that any
** process of the machine starts. The caller closes it. On failure returns NULL,
** with one line in WHY, of SIZE bytes.
*/
LsWatch *ls_watch_open(int children, int every, char *why, size_t size);

/* Free it. W may be NULL. */
void ls_watch_close(LsWatch *w);

/* Watch PID from now on. W may be NULL. */
void ls_watch_add(LsWatch *w, pid_t pid);

/* Watch PID no more. W may be NULL. */
void ls_watch_drop(LsWatch *w, pid_t pid);

/* A file descriptor for poll, readable when there are events. It belongs to W,
** and is closed with it.
*/
int ls_watch_fd(const LsWatch *w);

/* Report all events since the last call, FUNC being called with CTX for each
** of them.
*/
void ls_watch_read(LsWatch *w, LsWatchFunc *func, void *ctx);

#endif
