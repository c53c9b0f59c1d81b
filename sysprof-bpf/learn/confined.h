/*
** The processes that read foreign files: one that makes the others, and one for
** each file.
*/

#ifndef LS_CONFINED_H
#define LS_CONFINED_H

/* Be the process that makes the others, told by messages through the socket
** CONTROL until that is closed. Does not return.
*/
_Noreturn void ls_confined(int control);

#endif
