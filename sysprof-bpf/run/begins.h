/*
** Processes and programs that begin while a session runs.
*/

#ifndef LS_BEGINS_H
#define LS_BEGINS_H

#include "session.h"

/* Open what tells of them. It ends with the session. Returns -1 with one line
** in WHY, of SIZE bytes, if the kernel does not permit it.
*/
int ls_begins_open(LsSession *s, char *why, size_t size);

/* Take all events: add processes that are to be sampled, and note which run
** another program.
*/
void ls_begins_read(LsSession *s);

/* With -a: add processes that have a LuaJIT by now, of those that began
** lately or run.
*/
void ls_begins_due(LsSession *s);

/* When ls_begins_due has something to do, as CLOCK_MONOTONIC; UINT64_MAX:
** never.
*/
uint64_t ls_begins_next(const LsSession *s);

#endif
