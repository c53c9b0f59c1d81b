/*
** Limits of this process: it has a descriptor of each one that is sampled.
*/

#ifndef LS_RLIMIT_H
#define LS_RLIMIT_H

/* Allow this process to open N files, or as many as it may. */
void ls_rlimit_raise(unsigned n);

/* Undo that, in the child that becomes the command. */
void ls_rlimit_restore(void);

#endif
