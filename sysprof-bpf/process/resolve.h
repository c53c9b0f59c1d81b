/*
** Resolves the frames of a stack, which have addresses, to sites.
*/

#ifndef LS_RESOLVE_H
#define LS_RESOLVE_H

#include "kallsyms.h"
#include "sitetable.h"
#include "target.h"

#define LS_SITES_MAX                                                           \
  (LJS_MAX_FRAMES + 256) /* Of a stack; more are left out.                     \
                          */

typedef struct LsResolver {
  LsSiteTable *sites;
  LsModules *modules;
  LsKallsyms *kernel; /* NULL: the kernel keeps its names to itself. */
} LsResolver;

/* The sites of all frames of a stack, outermost first, as numbers of r->sites.
** Returns how many there are.
*/
size_t ls_resolve(LsResolver *r, const LsTarget *t, const struct ljs_stack *s,
                  uint32_t out[LS_SITES_MAX]);

/* Why a stack with these N sites is not complete: CUT, which is its LJS_CUT_*,
** or LJS_CUT_LOST if it is whole, but one of them has LS_LOST.
*/
uint32_t ls_resolve_cut(const LsResolver *r, uint32_t cut, const uint32_t *site,
                        size_t n);

#endif
