/*
** Memory outside of the VM's count: a type of its own, in all origins.
*/

#include <inttypes.h>

#include "foreign.h"

/* Add what an origin has of it. */
static void foreign_add(LpForeign *to, const LpProfile *prof, uint32_t origin)
{
  LpFigures f;
  if (lp_cell_type(&prof->origins.cell[origin]) != LJM_TYPE_FOREIGN)
    return;
  f = lp_origins_figures(&prof->origins, origin);
  to->arrived += lp_figure_births(&f);
  to->left += lp_figure_deaths(&f);
  to->bytes += lp_figure_bytes(&f);
  to->live += lp_figure_live_bytes(&f);
}

/* All of it that SHAPE keeps. */
LpForeign lp_foreign_sum(const LpProfile *prof, const LpShape *shape)
{
  LpForeign sum = {0};
  uint32_t i;
  for (i = 0; i < prof->origins.n; i++)
    if (lp_shape_origin(shape, i))
      foreign_add(&sum, prof, i);
  return sum;
}

/* The same by site; the caller frees it. */
LpForeign *lp_foreign_sites(const LpProfile *prof, const LpShape *shape)
{
  LpForeign *list = lp_zalloc(prof->sitekeys.n, sizeof(LpForeign));
  uint32_t i;
  for (i = 0; i < prof->origins.n; i++)
    if (lp_shape_origin(shape, i))
      foreign_add(&list[lp_cell_site(&prof->origins.cell[i])], prof, i);
  return list;
}

/* Add a text with its amount, if there is any. */
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
