/*
** Stacks of which only the Lua frames are kept.
*/

#ifndef LS_LUAFIRST_H
#define LS_LUAFIRST_H

#include "sitetable.h"

/* Is there a Lua frame among N sites? */
int ls_luafirst_any(const LsSiteTable *t, const uint32_t *site, uint32_t n);

/* Keep the Lua frames of N sites, the outermost first, so that the sample is
** charged to the innermost one. Of a stack without any, keep a mark that it
** begins with. Returns how many are left; 0: the stack is outside of Lua.
*/
uint32_t ls_luafirst(const LsSiteTable *t, uint32_t *site, uint32_t n);

#endif
