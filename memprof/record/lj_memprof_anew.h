/*
** A recording that begins anew in its own memory: in a child process, for which
** fork has copied it, and after a stop by control.
*/

#ifndef _LJ_MEMPROF_ANEW_H
#define _LJ_MEMPROF_ANEW_H

#include "lj_memprof.h"

struct MPFile;

/* How it begins anew. All zero if it never does. */
typedef struct MPAnew {
  struct MPFile *file; /* Of the recording, which is its writer's arg. */
  const char *path;    /* Its path, the file's; under the lock of the hooks. */
  int follow;          /* In a child process, to a file of its own. */
  int control;         /* By orders from outside. */
  int paused;          /* An order has stopped it; only of the VM's thread. */
  int signo;           /* Of its timer, or 0. */
  uint64_t thread;     /* The option THREAD. */
  uint64_t duration;   /* Nanoseconds, or 0: for ever. */
} MPAnew;

/*
** Reads the options of a start. Returns 0 if they do not go together; file is
** NULL for other writers than ours.
*/
LJ_FUNC int lj_memprof_checkanew(const struct luam_Prof_options *opt,
                                 const struct MPFile *file);

/*
** Sets what they say in a new recording. Returns 0 and errno if its file has no
** name.
*/
LJ_FUNC int lj_memprof_newanew(MPState *mp, const struct luam_Prof_options *opt,
                               struct MPFile *file);

/*
** Begins the stream and its file. To be called in an allocation, by a recording
** that takes no events. Returns 0 if that fails: the file has the error, and
** nothing is left of it.
*/
LJ_FUNC int lj_memprof_anew(MPState *mp);

/*
** Ends the stream and its file; all else stays. ptr and size as for
** lj_memprof_complete(). Returns 0 if that fails: the file has the error.
*/
LJ_FUNC int lj_memprof_pause(MPState *mp, const void *ptr, size_t size);

#endif
