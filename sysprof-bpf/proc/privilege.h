/*
** Giving up what is only needed at the start: whoever is sampled decides what
** lj-sysprof reads, so it should be able to do little else.
*/

#ifndef LS_PRIVILEGE_H
#define LS_PRIVILEGE_H

/* Keep only the capabilities to sample and to read other processes, of those
** that there are; also to signal any process if SIGNALS. Of who may write to
** any directory, that is kept if DIR, a descriptor or -1, needs it. No program
** that is executed from here on gets more. Threads keep what they have: call it
** before any is made. Returns 0, or -1 and errno; then all is as before.
*/
int ls_privilege_drop(int dir, int signals);

/* Become nobody, if this is root and there is such a user, without any
** capability; for a process of its own. Returns 0, or -1 and errno.
*/
int ls_privilege_none(void);

#endif
