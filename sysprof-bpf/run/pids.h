/*
** The processes of -p.
*/

#ifndef LS_PIDS_H
#define LS_PIDS_H

#include "session.h"

/* Add the processes of -p to the session, with --children also those that they
** have forked before. Returns 0; or -1, and has said which one cannot be
** sampled and why.
*/
int ls_pids_add(LsSession *s);

/* Add the children of all processes of S, and theirs, that are not there. */
void ls_pids_children(LsSession *s);

#endif
