/*
** Control: orders from outside, by a Unix socket of the process.
**
** A thread receives and answers them. It touches nothing of a VM or of its
** recording: it stores the order in the VM's hook and takes the recording out
** of the way, so that the VM's next event looks at the hook. The VM's thread
** executes the order there.
*/

#ifndef _LJ_MEMPROF_CONTROL_H
#define _LJ_MEMPROF_CONTROL_H

#include "lj_memprof.h"
#include "lj_memprof_hook.h"

/* Orders. Others are answered by the thread itself. */
enum { MPORDER_NONE, MPORDER_START, MPORDER_STOP, MPORDER_FLUSH, MPORDER_DUMP };

/* -- The process (lj_memprof_control.c) ------------------------------------ */

/*
** Starts the thread, unless this process has it. Returns 0 and errno if there
** is none.
*/
LJ_FUNC int lj_memprof_startcontrol(void);

/* Why there is none, of this process's last try: a static string or NULL. */
LJ_FUNC const char *lj_memprof_whynocontrol(void);

/*
** The process exits: ends the thread, and removes its socket. No order is left
** in any hook.
*/
LJ_FUNC void lj_memprof_endcontrol(void);

/* In a child of fork(), with the lock of the hooks: it has no thread. */
LJ_FUNC void lj_memprof_forkedcontrol(void);

/* -- The VM's thread (lj_memprof_control.c) -------------------------------- */

/*
** At an event of a recording that takes none: executes an order that waits,
** but not where a block is freed or becomes smaller (isfree): the VM's lists
** may not be whole then. Returns true if the event is to be recorded.
*/
LJ_FUNC int lj_memprof_obey(MPHook *h, int isfree);

/*
** Stops the recording as an order does: its stream and file end, and it can
** begin anew. At an event; ptr and size as for lj_memprof_complete(). Returns 0
** if it fails, or if another thread is ending it.
*/
LJ_FUNC int lj_memprof_pausehook(MPHook *h, const void *ptr, size_t size);

/* -- The hooks (lj_memprof_hooks.c) ---------------------------------------- */

/* What an answer is made of, for each VM that can be controlled. */
typedef struct MPControlled {
  const char *path; /* Of the file, valid with the lock. */
  int state;        /* MP_*. */
  int order;        /* What it has not executed yet, or MPORDER_NONE. */
  int answer;       /* How the last one went: an errno or 0. */
  const char *why;
  const char *dump; /* The last dump that was ordered, or NULL. */
} MPControlled;

/*
** Calls f(arg, c) for each VM of this process that can be controlled, with the
** lock of the hooks: f starts and ends nothing. If order is not NONE, it is
** given to each that has none before. Returns how many there are.
*/
LJ_FUNC unsigned
lj_memprof_controlled(int order, void (*f)(void *arg, const MPControlled *c),
                      void *arg);

/* A dump has this name, which is the recording's from here on. */
LJ_FUNC void lj_memprof_dumped(MPHook *h, char *name);

/* The orders of all hooks are void. */
LJ_FUNC void lj_memprof_noorders(void);

/*
** The VM's thread is about to begin a paused recording anew. Returns 0 if the
** process exits, or it is not paused.
*/
LJ_FUNC int lj_memprof_restart(MPHook *h);

/*
** The VM's thread is about to pause a recording: claims its end. Waits for the
** timer's thread, if that ends the stream. Returns 0 if another thread ends it.
*/
LJ_FUNC int lj_memprof_claimpause(MPHook *h);

/*
** A claimed end has come: the recording is paused (see MP_PAUSED).
*/
LJ_FUNC void lj_memprof_paused(MPHook *h);

/*
** An order is executed; en is 0 or why it has failed. The recording takes
** events if it is running. Returns whether it does.
*/
LJ_FUNC int lj_memprof_ordered(MPHook *h, int en, const char *why);

/* -- The socket (lj_memprof_controlsock.c) --------------------------------- */

#define MPCONTROL_PATH 108 /* Bytes of a socket's path: sun_path. */

/*
** Makes the socket of this process in a folder that no other user can enter,
** and listens. Returns its descriptor, and its path, or -1 with errno and *why.
*/
LJ_FUNC int lj_memprof_listen(char path[MPCONTROL_PATH], const char **why);

/*
** Accepts a connection of this process's user, or root. Returns its descriptor,
** or -1 if there is none, or it is another user's.
*/
LJ_FUNC int lj_memprof_accept(int fd);

#endif
