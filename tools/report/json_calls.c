/*
** The call tree of a JSON document: members "functions", "sites", "tree".
**
** All three are columns, of numbers that name each other, so that a tree of
** 100,000 nodes is small and quick to read. Functions and sites are numbered in
** the order in which the tree has them first. Nodes where nothing happened,
** neither in themselves nor further in, are left out.
*/

#include <stdlib.h>

#include "frame.h"
#include "json_calls.h"
#include "label.h"

typedef struct Calls {
  LpJson *j;
  const LpProfile *prof;
  const LpTree *tree;
  uint32_t *node;   /* By the document's number: the tree's, */
  uint32_t *ofnode; /* and the other way round. */
  uint32_t nnode;
  uint32_t *site;   /* By the document's number: the profile's, */
  uint32_t *ofsite; /* and the other way round. */
  uint32_t nsite;
  uint32_t *func;   /* By the document's number: a site of that function. */
  uint32_t *offunc; /* By site of the document. */
  uint32_t nfunc;
} Calls;

/* Number a site, and its function. Special sites are functions of their own. */
static void calls_number(Calls *c, LpIdMap *funcs, uint32_t site)
{
  uint64_t key = site < LP_SITE_FIRST
                     ? site
                     : (uint64_t)LP_SITE_FIRST + c->prof->row[site].func;
  uint32_t id = lp_idmap_get(funcs, key);
  if (id == LP_NONE) {
    id = c->nfunc++;
    lp_idmap_put(funcs, key, id);
    c->func[id] = site;
  }
  c->ofsite[site] = c->nsite;
  c->offunc[c->nsite] = id;
  c->site[c->nsite++] = site;
}

/* Does a node have a self value? */
static int calls_some(const LpTree *t, uint32_t i)
{
  LpMetric m;
  for (m = 0; m < LP_NMETRIC; m++)
    if ((t->col[LP_NOW][m].self && lp_value_round(t->col[LP_NOW][m].self[i])) ||
        (t->col[LP_BASE][m].self && lp_value_round(t->col[LP_BASE][m].self[i])))
      return 1;
  return 0;
}

/* Number the nodes that are not left out; the root never is. */
static void calls_nodes(Calls *c)
{
  const LpTree *t = c->tree;
  uint8_t *some = lp_zalloc(t->n, 1);
  uint32_t i;
  c->node = lp_alloc(t->n * sizeof(uint32_t));
  c->ofnode = lp_alloc(t->n * sizeof(uint32_t));
  for (i = t->n; --i > LP_NODE_ROOT;) {
    some[i] |= (uint8_t)calls_some(t, i);
    some[t->node[i].parent] |= some[i];
  }
  some[LP_NODE_ROOT] = 1;
  for (i = 0; i < t->n; i++) {
    if (!some[i])
      continue;
    c->ofnode[i] = c->nnode;
    c->node[c->nnode++] = i;
  }
  free(some);
}

/* Number the nodes, sites and functions of the document. */
static void calls_open(Calls *c)
{
  size_t size = c->prof->sitekeys.n * sizeof(uint32_t);
  LpIdMap funcs = {0};
  uint32_t i;
  calls_nodes(c);
  c->site = lp_alloc(size);
  c->ofsite = lp_alloc(size);
  c->func = lp_alloc(size);
  c->offunc = lp_alloc(size);
  for (i = 0; i < c->prof->sitekeys.n; i++)
    c->ofsite[i] = LP_NONE;
  for (i = 1; i < c->nnode; i++) {
    uint32_t site = c->tree->node[c->node[i]].site;
    if (c->ofsite[site] == LP_NONE)
      calls_number(c, &funcs, site);
  }
  lp_idmap_free(&funcs);
}

/* Free it. */
static void calls_close(Calls *c)
{
  free(c->node);
  free(c->ofnode);
  free(c->site);
  free(c->ofsite);
  free(c->func);
  free(c->offunc);
}

/* A column of texts of N sites; empty texts are unknown. */
static void calls_texts(const Calls *c, const char *key, const uint32_t *site,
                        uint32_t n, LpLabel *of)
{
  uint32_t i;
  lp_json_array(c->j, key);
  for (i = 0; i < n; i++) {
    LpBuf b = {0};
    of(&b, c->prof, site[i]);
    lp_json_text(c->j, b.n ? b.s : NULL);
    lp_buf_free(&b);
  }
  lp_json_end(c->j);
}

/* A column of lines, of N sites. */
static void calls_lines(const Calls *c, const uint32_t *site, uint32_t n,
                        int (*of)(const LpProfile *, uint32_t, uint64_t *))
{
  uint32_t i;
  lp_json_array(c->j, "line");
  for (i = 0; i < n; i++) {
    uint64_t line;
    if (of(c->prof, site[i], &line))
      lp_json_number(c->j, line);
    else
      lp_json_null(c->j);
  }
  lp_json_end(c->j);
}

/* All functions. */
static void calls_functions(const Calls *c)
{
  uint32_t i;
  lp_json_object(c->j, "functions");
  calls_texts(c, "label", c->func, c->nfunc, lp_label_func);
  calls_texts(c, "name", c->func, c->nfunc, lp_frame_name);
  calls_texts(c, "file", c->func, c->nfunc, lp_frame_file);
  calls_lines(c, c->func, c->nfunc, lp_frame_first);
  lp_json_array(c->j, "kind");
  for (i = 0; i < c->nfunc; i++)
    lp_json_text(c->j, lp_frame_kind(c->prof, c->func[i]));
  lp_json_end(c->j);
  calls_texts(c, "module", c->func, c->nfunc, lp_frame_module);
  lp_json_end(c->j);
}

/* All sites. */
static void calls_sites(const Calls *c)
{
  uint32_t i;
  lp_json_object(c->j, "sites");
  lp_json_array(c->j, "function");
  for (i = 0; i < c->nsite; i++)
    lp_json_number(c->j, c->offunc[i]);
  lp_json_end(c->j);
  calls_lines(c, c->site, c->nsite, lp_frame_line);
  calls_texts(c, "label", c->site, c->nsite, lp_label_whole);
  lp_json_array(c->j, "approximate");
  for (i = 0; i < c->nsite; i++)
    lp_json_number(c->j, c->prof->row[c->site[i]].marks != 0);
  lp_json_end(c->j);
  lp_json_end(c->j);
}

/* The self values of a metric, if it is not 0 everywhere. */
static void calls_column(const Calls *c, LpSide side, LpMetric m)
{
  const LpValue *v = c->tree->col[side][m].self;
  uint32_t i;
  for (i = 0; i < c->nnode && !lp_value_round(v[c->node[i]]); i++)
    ;
  if (i == c->nnode)
    return;
  lp_json_array(c->j, lp_metrics[m].key);
  for (i = 0; i < c->nnode; i++)
    lp_json_number(c->j, lp_value_round(v[c->node[i]]));
  lp_json_end(c->j);
}

/* All metrics of one side. */
static void calls_side(const Calls *c, LpSide side)
{
  LpMetric m;
  lp_json_object(c->j, side == LP_NOW ? "self" : "base");
  for (m = 0; m < LP_NMETRIC; m++)
    if (c->tree->metrics & LP_METRIC_BIT(m))
      calls_column(c, side, m);
  lp_json_end(c->j);
}

/* All nodes: the root first, every caller before those it calls. */
static void calls_tree(const Calls *c)
{
  const LpTreeNode *node = c->tree->node;
  uint32_t i;
  lp_json_object(c->j, "tree");
  lp_json_array(c->j, "parent");
  for (i = 0; i < c->nnode; i++)
    lp_json_number(c->j, c->ofnode[node[c->node[i]].parent]);
  lp_json_end(c->j);
  lp_json_array(c->j, "site");
  lp_json_number(c->j, (uint64_t)-1);
  for (i = 1; i < c->nnode; i++)
    lp_json_number(c->j, c->ofsite[node[c->node[i]].site]);
  lp_json_end(c->j);
  calls_side(c, LP_NOW);
  if (c->prof->baseline.present)
    calls_side(c, LP_BASE);
  lp_json_end(c->j);
}

void lp_json_calls(LpJson *j, const LpProfile *prof, const LpTree *t)
{
  Calls c = {.j = j, .prof = prof, .tree = t};
  calls_open(&c);
  calls_functions(&c);
  calls_sites(&c);
  calls_tree(&c);
  calls_close(&c);
}
