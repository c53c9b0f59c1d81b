/*
** Process events: new mappings, new programs, new processes.
*/

#ifndef LS_PROCEVENTS_H
#define LS_PROCEVENTS_H

#include <stddef.h>
#include <sys/types.h>

typedef struct LsProcEvents LsProcEvents;

enum {
  LS_PROCEVENT_MAP,
  LS_PROCEVENT_EXEC,
  LS_PROCEVENT_FORK,
  LS_PROCEVENT_LOST
};

/* Takes an event: PID has mapped a file (MAP), runs another program (EXEC), or
** was forked by PARENT (FORK). LOST: some events are missing.
*/
typedef void LsProcEventFunc(void *ctx, int what, pid_t pid, pid_t parent);

/* Open the events of all CPUs. NULL and errno if the kernel does not permit it.
** The caller closes it.
*/
LsProcEvents *ls_procevents_open(void);

/* Free it. W may be NULL. */
void ls_procevents_close(LsProcEvents *w);

/* A file descriptor for poll, readable when there are events. It
** belongs to W.
*/
int ls_procevents_fd(const LsProcEvents *w);

/* Report all events since the last call, FUNC being called with CTX
** for each.
*/
void ls_procevents_read(LsProcEvents *w, LsProcEventFunc *func, void *ctx);

#endif
