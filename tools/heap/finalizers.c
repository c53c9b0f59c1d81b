/*
** Finalizers of cdata: the VM has them in a table, whose keys are the cdata.
*/

#include "ctype_name.h"
#include "finalizers.h"
#include "path.h"

/* Adds the finalizers in a table. */
static void finalizers_table(LpIdMap *of, const LpGraph *g, uint32_t table)
{
  const LpEdge *e = lp_graph_first(g, table);
  for (; e; e = lp_graph_next(e))
    if (lp_edge_kind(e) == LP_EDGE_FIELD && lp_edge_detail(e) < g->n &&
        g->type[lp_edge_detail(e)] == LJM_TYPE_CDATA)
      lp_idmap_put(of, lp_edge_detail(e), lp_edge_to(e));
}

void lp_finalizers_find(LpIdMap *of, const LpDump *d)
{
  size_t i;
  for (i = 0; i < d->nroot; i++)
    if (lp_dump_isroot(d, &d->root[i], "cdata finalizers"))
      finalizers_table(of, &d->graph, lp_edge_to(&d->root[i]));
}

void lp_finalizers_name(LpBuf *b, const LpDump *d, uint32_t finalizer)
{
  unsigned type = d->graph.type[finalizer];
  if (type == LJM_TYPE_FUNCTION) {
    lp_buf_puts(b, " ");
    lp_path_object(b, d, finalizer);
  } else if (!lp_identifiers_add(b, d, finalizer)) {
    lp_buf_printf(b, " %s", lp_path_type(type));
    if (type == LJM_TYPE_CDATA)
      lp_ctype_name(b, d, lp_idmap_get(&d->number, finalizer));
  }
}
