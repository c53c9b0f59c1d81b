/*
** The Unix socket by which orders come.
*/

#ifndef _LJ_MEMPROF_CONTROLSOCK_H
#define _LJ_MEMPROF_CONTROLSOCK_H

#include "lj_memprof.h"

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
