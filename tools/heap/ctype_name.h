/*
** Names of types of cdata, as C writes them.
*/

#ifndef LP_CTYPE_NAME_H
#define LP_CTYPE_NAME_H

#include "dump.h"
#include "mem.h"

/* Append the name of the type with this number, behind a space; nothing if it
** is not known.
*/
void lp_ctype_name(LpBuf *b, const LpDump *d, uint32_t number);

/* Is it the type of functions? */
int lp_ctype_isfunction(const LpDump *d, uint32_t number);

#endif
