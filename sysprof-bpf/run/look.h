/*
** When the mappings of processes are read: when a process or a program begins,
** at an address that is not known, and from time to time.
**
** The kernel could tell of each new mapping, but at the cost of whoever maps,
** and programs that compile do so all the time. So a file that is mapped late
** is found as soon as its code is sampled, and one that takes the place of
** another in some seconds.
*/

#ifndef LS_LOOK_H
#define LS_LOOK_H

#include "session.h"

/* Read the mappings of a process, and upload them if they have changed. Reading
** new files takes time: if the process is sampled already, the BPF program gets
** the known ones at once, and updates after 1, 2, 4, ... new files. What there
** is no time for leaves it stale. Returns -1 with errno as ls_target_refresh.
*/
int ls_look(LsSession *s, LsTarget *t);

/* Note that a process runs another program, which will map its files. */
void ls_look_started(LsTarget *t);

/* Read the mappings of all processes for which it is time; but not yet of one
** on which much time was spent lately. Ends early if STOP, called with CTX,
** is not 0.
*/
void ls_look_due(LsSession *s, int (*stop)(const void *ctx), const void *ctx);

/* When ls_look_due has something to do, as CLOCK_MONOTONIC; UINT64_MAX:
** never.
*/
uint64_t ls_look_next(const LsSession *s);

/* Read the mappings of a process if a stack of it has an address that is in no
** known module.
*/
void ls_look_addresses(LsSession *s, LsTarget *t, const struct ljs_stack *st);

/* Whether a file that is being read must wait, as with -a sampling would begin
** too late.
*/
int ls_look_early(const LsSession *s);

#endif
