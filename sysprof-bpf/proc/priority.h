/*
** The priority of the thread that reads stacks: what it has not read when a
** process ends has no name.
*/

#ifndef LS_PRIORITY_H
#define LS_PRIORITY_H

/* Let this thread run before others, and processes that it forks from now on.
** Without CAP_SYS_NICE nothing is changed.
*/
void ls_priority_raise(void);

/* Undo that, in the child that becomes the command. */
void ls_priority_restore(void);

#endif
