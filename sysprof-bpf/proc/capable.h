/*
** Why the kernel refused.
*/

#ifndef LS_CAPABLE_H
#define LS_CAPABLE_H

#include <stddef.h>

void ls_capable_why(int err, char *why, size_t size);

#endif
