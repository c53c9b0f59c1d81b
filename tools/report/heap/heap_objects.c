/*
** --view=objects, --dump: every object with its references, as the RFC has it.
** In other formats than text: a table of the objects.
*/

#include <inttypes.h>
#include <stdlib.h>

#include "heap_columns.h"
#include "heap_report.h"

/* What the VM's headers call the types, by LJM_TYPE_*. */
static const char *const objects_type[16] = {
    [LJM_TYPE_STRING] = "LJ_TSTR",    [LJM_TYPE_UPVALUE] = "LJ_TUPVAL",
    [LJM_TYPE_THREAD] = "LJ_TTHREAD", [LJM_TYPE_PROTO] = "LJ_TPROTO",
    [LJM_TYPE_FUNCTION] = "LJ_TFUNC", [LJM_TYPE_TRACE] = "LJ_TTRACE",
    [LJM_TYPE_CDATA] = "LJ_TCDATA",   [LJM_TYPE_TABLE] = "LJ_TTAB",
    [LJM_TYPE_USERDATA] = "LJ_TUDATA"};

/* Add an object: its type, its address, a string's text. */
static void objects_name(LpBuf *b, const LpHeap *h, uint32_t id)
{
  const LpGraph *g = &h->dump.graph;
  const char *type = objects_type[g->type[id] & 15], *s;
  size_t n;
  lp_buf_printf(b, "%s @0x%" PRIx64, type ? type : "(unknown)",
                g->node[id].addr);
  s = lp_graph_textof(g, id, &n);
  if (!s)
    return;
  lp_buf_puts(b, " \"");
  lp_graph_quote(b, s, n);
  lp_buf_puts(b, "\"");
}

/* Is it a reference of the array, of the hash part, or another one? */
static int objects_part(const LpEdge *e)
{
  LpEdgeKind kind = lp_edge_kind(e);
  if (kind == LP_EDGE_ITEM)
    return 1;
  return kind == LP_EDGE_FIELD || kind == LP_EDGE_VALUE || kind == LP_EDGE_KEY
             ? 2
             : 0;
}

/* Is it a key that stands again before its value? */
static int objects_again(const LpEdge *e)
{
  const LpEdge *next = lp_graph_next(e);
  return lp_edge_kind(e) == LP_EDGE_KEY && next &&
         lp_edge_kind(next) == LP_EDGE_FIELD &&
         lp_edge_detail(next) == lp_edge_to(e);
}

/* One reference. */
static void objects_edge(LpBuf *b, const LpHeap *h, uint32_t id,
                         const LpEdge *e)
{
  lp_buf_puts(b, "  ");
  if (lp_edge_kind(e) == LP_EDGE_META)
    lp_buf_puts(b, "metatable");
  else if (lp_edge_kind(e) == LP_EDGE_FIELD)
    objects_name(b, h, lp_edge_detail(e));
  else
    lp_path_step(b, &h->dump, id, e);
  lp_buf_puts(b, " => ");
  objects_name(b, h, lp_edge_to(e));
  lp_buf_puts(b, "\n");
}

/* The references of a table, part by part; of other objects, all. */
static void objects_links(LpBuf *b, const LpHeap *h, uint32_t id)
{
  static const char *const title[] = {"", "===== ARRAY PART\n",
                                      "===== HASH PART\n"};
  int part, any;
  for (part = 0; part < 3; part++) {
    const LpEdge *e = lp_graph_first(&h->dump.graph, id);
    for (any = 0; e; e = lp_graph_next(e)) {
      if (objects_part(e) != part || objects_again(e))
        continue;
      if (!any++)
        lp_buf_puts(b, title[part]);
      objects_edge(b, h, id, e);
    }
  }
}

/* Append an object with its references. */
static void objects_object(LpBuf *b, const LpHeap *h, uint32_t id)
{
  const LpGraph *g = &h->dump.graph;
  int links = lp_graph_first(g, id) != NULL;
  objects_name(b, h, id);
  lp_buf_printf(b, " holds %" PRIu64 " bytes%s", lp_graph_size(g, id),
                g->flags[id] & LP_NODE_GARBAGE ? ", is about to be freed" : "");
  lp_buf_puts(b, links ? " and linked with\n" : "\n");
  if (g->type[id] == LJM_TYPE_TABLE &&
      lp_dump_link(&h->dump, id, LP_EDGE_META) == LP_NONE)
    lp_buf_puts(b, "  metatable => NULL\n");
  objects_links(b, h, id);
}

/* All objects, as text. */
static void objects_write(LpOut *out, const LpSubject *subject,
                          const LpReportOptions *opt)
{
  const LpHeap *h = subject->heap;
  uint32_t id;
  (void)opt;
  lp_out_puts(out, "===== MEMORY SNAPSHOT\n");
  for (id = 1; id < h->dump.graph.n; id++) {
    if (!(h->dump.graph.flags[id] & LP_NODE_DEFINED))
      continue;
    objects_object(&out->buf, h, id);
    lp_out_step(out);
  }
}

const LpReport lp_report_heap_list = {.format = "text",
                                      .view = "objects",
                                      .of = LP_OF_HEAP,
                                      .write = objects_write};

/* -- As a table ------------------------------------------------------------ */

/* Append the name of an object's type. */
static void objects_typename(LpBuf *b, const void *view, const void *row)
{
  const LpHeap *h = view;
  const LpHeapRow *r = row;
  lp_buf_puts(b, lp_path_type(h->dump.graph.type[r->id]));
}

/* Append what object it is. */
static void objects_what(LpBuf *b, const void *view, const void *row)
{
  const LpHeap *h = view;
  const LpHeapRow *r = row;
  lp_path_object(b, &h->dump, r->id);
}

static const LpField objects_typefield = {
    LP_FIELD_TEXT("type", "type", objects_typename)};
static const LpField objects_field = {
    LP_FIELD_TEXT("object", "object", objects_what)};

/* All objects. */
static void objects_table(LpTable *t, const LpSubject *subject,
                          const LpReportOptions *opt)
{
  static const LpField *const list[] = {&lp_col_bytes,   &lp_col_keeps,
                                        &lp_col_address, &objects_typefield,
                                        &objects_field,  &lp_col_path};
  const LpHeap *h = subject->heap;
  LpColumns c = lp_heap_columns(t, h, list, LP_NFIELDS(list), 0);
  uint32_t id;
  (void)opt;
  for (id = 1; h && id < h->dump.graph.n; id++) {
    LpHeapRow r;
    if (!(h->dump.graph.flags[id] & LP_NODE_DEFINED))
      continue;
    r = lp_heap_row(h, id);
    lp_columns_row(&c, &r, NULL);
  }
}

const LpReport lp_report_heap_objects = {.view = "objects",
                                         .of = LP_OF_HEAP,
                                         .takes = LP_TAKES_ROWS,
                                         .table = objects_table};
