/*
** The unwinder over whatever there is.
*/

#ifndef ANYWALK_H
#define ANYWALK_H

#include <stddef.h>
#include <stdint.h>

/* Walks a stack whose registers, memory and tables are made of bytes, and
** aborts if what comes out is not what may come out of anything: bounded, and
** marked where it is cut.
*/
void anywalk(const uint8_t *p, size_t n);

#endif
