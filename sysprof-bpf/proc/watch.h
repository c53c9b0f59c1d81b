/*
** Tells what processes do that the sampler has to know of: new mappings, new
** programs, new processes.
*/

#ifndef LS_WATCH_H
#define LS_WATCH_H

#include <stddef.h>
#include <sys/types.h>

typedef struct LsWatch LsWatch;

enum { LS_WATCH_MAP, LS_WATCH_EXEC, LS_WATCH_FORK, LS_WATCH_LOST };

/* PID has mapped a file, runs another program, or has been forked by PARENT.
** LOST: something was missed.
*/
typedef void LsWatchFunc(void *ctx, int what, pid_t pid, pid_t parent);

LsWatch *ls_watch_open(void);
void ls_watch_close(LsWatch *w);
int ls_watch_fd(const LsWatch *w);
void ls_watch_read(LsWatch *w, LsWatchFunc *func, void *ctx);

#endif
