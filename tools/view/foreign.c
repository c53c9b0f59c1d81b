/*
** Memory outside of the VM's count: a type of its own, in all origins.
*/

#include <inttypes.h>

#include "foreign.h"

/* Add what all origins that SHAPE keeps have of it: to one sum, or if BYSITE to
** the sum of each site.
*/
static void foreign_add(LpForeign *list, const LpProfile *prof,
                        const LpShape *shape, int bysite)
{
  const LpOrigins *o = &prof->origins;
  uint32_t i;
  for (i = 0; i < o->n; i++) {
    LpForeign *to = bysite ? &list[lp_cell_site(&o->cell[i])] : list;
    LpFigures f;
    if (!lp_shape_origin(shape, i) ||
        lp_cell_type(&o->cell[i]) != LJM_TYPE_FOREIGN)
      continue;
    f = lp_origins_figures(o, i);
    to->arrived += lp_figure_births(&f);
    to->left += lp_figure_deaths(&f);
    to->bytes += lp_figure_bytes(&f);
    to->live += lp_figure_live_bytes(&f);
  }
}

LpForeign lp_foreign_sum(const LpProfile *prof, const LpShape *shape)
{
  LpForeign sum = {0};
  foreign_add(&sum, prof, shape, 0);
  return sum;
}

LpForeign *lp_foreign_sites(const LpProfile *prof, const LpShape *shape)
{
  LpForeign *list = lp_zalloc(prof->sitekeys.n, sizeof(LpForeign));
  foreign_add(list, prof, shape, 1);
  return list;
}

void lp_foreign_text(LpBuf *b, const LpProfile *prof)
{
  LpForeign sum = lp_foreign_sum(prof, NULL);
  const LpWeight *elder = &prof->elder;
  if (!sum.arrived && !elder->n)
    return;
  lp_buf_printf(b,
                "%" PRId64 " bytes live, %" PRIu64 " allocated, %" PRIu64
                " allocations, %" PRIu64 " deallocations",
                (int64_t)sum.live, sum.bytes, sum.arrived, sum.left);
  if (elder->n)
    lp_buf_printf(b,
                  "; %" PRId64 " bytes of %" PRIu64
                  " objects from before the start were freed",
                  (int64_t)elder->bytes, elder->n);
}
