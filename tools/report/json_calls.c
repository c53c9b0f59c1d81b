/*
** The call tree of a JSON document: members "functions", "sites", "tree".
**
** All three are columns, of numbers that name each other, so that a tree of
** 100,000 nodes is small and quick to read. Functions and sites are numbered in
** the order in which the tree has them first. Nodes where nothing happened,
** neither in themselves nor further in, are left out.
**
** If there are too many nodes, paths to the smallest ones are cut short: behind
** a caller that is not that small there is one node "(smaller)", and in it one
** for each site, so that the figures of lines are exact.
*/

#include <math.h>
#include <stdlib.h>

#include "frame.h"
#include "json_calls.h"
#include "page/keep.h"
#include "label.h"
#include "part.h"
#include "page/steps.h"

#define CALLS_SMALLER "(smaller)"

typedef struct Calls {
  LpJson *j;
  const LpProfile *prof;
  const LpTree *tree;
  uint32_t *ofnode; /* By node of the tree: its number in the document. */
  uint32_t *parent; /* By that number: that of its parent, */
  uint32_t *at;     /* and of its site; until these have numbers, the profile's
                    ** or LP_NONE. */
  uint32_t nnode;
  int sparse;       /* As calls_values. */
  uint32_t nkept;   /* Behind these are those that stand for smaller ones. */
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
  uint32_t id = lp_idmap_add(funcs, key, c->nfunc);
  if (id == c->nfunc)
    c->func[c->nfunc++] = site;
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

/* A node that is not one of the tree: SITE is the profile's, LP_NONE is that of
** all that are smaller.
*/
static uint32_t calls_extra(Calls *c, uint32_t parent, uint32_t site)
{
  c->at[c->nnode] = site;
  c->parent[c->nnode] = parent;
  return c->nnode++;
}

/* The nodes that stand for those that are not kept, behind callers that are
** heavier than LIMIT. Returns 0 if all are more than MOST: there are none then.
*/
static int calls_smaller(Calls *c, const double *weight, double kept,
                         double limit, uint32_t most)
{
  const LpTree *t = c->tree;
  uint32_t *by = lp_zalloc(t->n, sizeof(uint32_t)), i, nnode = c->nnode;
  LpIdMap ids = {0};
  for (i = 1; i < t->n && c->nnode <= most; i++) {
    uint32_t up = t->node[i].parent, site = t->node[i].site, id;
    by[i] = weight[i] > limit ? i : by[up]; /* The caller they are behind. */
    if (weight[i] > kept || !calls_some(t, i))
      continue;
    id = lp_idmap_get(&ids, (uint64_t)by[up] << 32 | LP_NONE);
    if (id == LP_NONE) {
      id = calls_extra(c, c->ofnode[by[up]], LP_NONE);
      lp_idmap_put(&ids, (uint64_t)by[up] << 32 | LP_NONE, id);
    }
    c->ofnode[i] = lp_idmap_get(&ids, (uint64_t)by[up] << 32 | site);
    if (c->ofnode[i] == LP_NONE) {
      c->ofnode[i] = calls_extra(c, id, site);
      lp_idmap_put(&ids, (uint64_t)by[up] << 32 | site, c->ofnode[i]);
    }
  }
  lp_idmap_free(&ids);
  free(by);
  if (i == t->n)
    return 1;
  c->nnode = nnode;
  return 0;
}

/* Number the nodes: not more than twice MOST, if that is not 0; unless there
** are more sites.
*/
static void calls_nodes(Calls *c, uint32_t most)
{
  const LpTree *t = c->tree;
  double *weight = lp_keep_weights(t);
  double kept = most ? lp_keep_limit(weight, t->n, most) : 0;
  uint32_t i, heavy;
  c->at = lp_alloc(3 * (size_t)t->n * sizeof(uint32_t));
  c->parent = lp_alloc(3 * (size_t)t->n * sizeof(uint32_t));
  c->ofnode = lp_zalloc(t->n, sizeof(uint32_t));
  for (i = 0; i < t->n; i++) {
    if (i && weight[i] <= kept)
      continue;
    c->ofnode[i] = c->nnode;
    c->parent[c->nnode] = c->ofnode[t->node[i].parent];
    c->at[c->nnode++] = t->node[i].site;
  }
  c->nkept = c->nnode;
  for (heavy = most; most; heavy /= 4) {
    double limit = heavy ? lp_keep_limit(weight, t->n, heavy) : HUGE_VAL;
    if (calls_smaller(c, weight, kept, limit,
                      heavy ? 2 * c->nkept : UINT32_MAX))
      break;
  }
  free(weight);
}

/* Number the nodes, sites and functions of the document. */
static void calls_open(Calls *c, uint32_t most)
{
  size_t size = (c->prof->sitekeys.n + 1u) * sizeof(uint32_t);
  LpIdMap funcs = {0};
  uint32_t i;
  calls_nodes(c, most);
  c->site = lp_alloc(size);
  c->ofsite = lp_alloc(size);
  c->func = lp_alloc(size);
  c->offunc = lp_alloc(size);
  for (i = 0; i < c->prof->sitekeys.n; i++)
    c->ofsite[i] = LP_NONE;
  for (i = 1; i < c->nnode; i++)
    if (c->at[i] != LP_NONE && c->ofsite[c->at[i]] == LP_NONE)
      calls_number(c, &funcs, c->at[i]);
  if (c->nnode > c->nkept) { /* The site of all that are smaller. */
    c->func[c->nfunc] = c->site[c->nsite] = LP_NONE;
    c->offunc[c->nsite++] = c->nfunc++;
  }
  lp_idmap_free(&funcs);
  for (i = 1; i < c->nnode; i++)
    c->at[i] = c->at[i] == LP_NONE ? c->nsite - 1 : c->ofsite[c->at[i]];
}

/* Free it. */
static void calls_close(Calls *c)
{
  free(c->parent);
  free(c->at);
  free(c->ofnode);
  free(c->site);
  free(c->ofsite);
  free(c->func);
  free(c->offunc);
}

/* A column of texts of N sites; empty texts are unknown. That of all smaller
** ones has the text SMALLER.
*/
static void calls_texts(const Calls *c, const char *key, const uint32_t *site,
                        uint32_t n, LpLabel *of, const char *smaller)
{
  uint32_t i;
  lp_json_array(c->j, key);
  for (i = 0; i < n; i++) {
    LpBuf b = {0};
    if (site[i] == LP_NONE)
      lp_buf_puts(&b, smaller);
    else
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
    if (site[i] != LP_NONE && of(c->prof, site[i], &line))
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
  calls_texts(c, "label", c->func, c->nfunc, lp_label_func, CALLS_SMALLER);
  calls_texts(c, "name", c->func, c->nfunc, lp_frame_name, "");
  calls_texts(c, "file", c->func, c->nfunc, lp_frame_file, "");
  calls_lines(c, c->func, c->nfunc, lp_frame_first);
  lp_json_array(c->j, "kind");
  for (i = 0; i < c->nfunc; i++)
    lp_json_text(c->j, c->func[i] == LP_NONE
                           ? "mark"
                           : lp_frame_kind(c->prof, c->func[i]));
  lp_json_end(c->j);
  calls_texts(c, "module", c->func, c->nfunc, lp_frame_module, "");
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
  calls_texts(c, "label", c->site, c->nsite, lp_label_whole, CALLS_SMALLER);
  lp_json_array(c->j, "approximate");
  for (i = 0; i < c->nsite; i++)
    lp_json_number(c->j, c->site[i] != LP_NONE &&
                             (c->prof->row[c->site[i]].marks &
                              (LJM_SITE_APPROX | LJM_SITE_UNSURE)) != 0);
  lp_json_end(c->j);
  lp_json_end(c->j);
}

/* A column of numbers, or, if most of them are 0, of pages: "at" has the
** distances between those that are not, "value" has these.
*/
static void calls_values(const Calls *c, const uint64_t *v)
{
  uint32_t i, n = 0, last = 0;
  for (i = 0; i < c->nnode; i++)
    n += v[i] != 0;
  if (!c->sparse || n > c->nnode / 3) {
    lp_json_array(c->j, NULL);
    for (i = 0; i < c->nnode; i++)
      lp_json_number(c->j, v[i]);
    lp_json_end(c->j);
    return;
  }
  lp_json_object(c->j, NULL);
  lp_json_array(c->j, "at");
  for (i = 0; i < c->nnode; i++) {
    if (!v[i])
      continue;
    lp_json_number(c->j, i - last);
    last = i;
  }
  lp_json_end(c->j);
  lp_json_array(c->j, "value");
  for (i = 0; i < c->nnode; i++)
    if (v[i])
      lp_json_number(c->j, v[i]);
  lp_json_end(c->j);
  lp_json_end(c->j);
}

/* The self values of a metric, if it is not 0 everywhere, and known. */
static void calls_column(const Calls *c, LpSide side, LpMetric m)
{
  const LpValue *v = c->tree->col[side][m].self;
  uint64_t *sum;
  uint32_t i;
  for (i = 0; i < c->tree->n && !lp_value_round(v[i]); i++)
    ;
  if (i == c->tree->n ||
      (m == LP_METRIC_ALLOC_GC && !lp_allocgc_known(c->prof)))
    return;
  sum = lp_zalloc(c->nnode, sizeof(uint64_t));
  for (i = 0; i < c->tree->n; i++)
    sum[c->ofnode[i]] += lp_value_round(v[i]);
  lp_json_key(c->j, lp_metrics[m].key);
  calls_values(c, sum);
  free(sum);
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
  uint32_t i;
  lp_json_object(c->j, "tree");
  lp_json_array(c->j, "parent");
  for (i = 0; i < c->nnode; i++)
    lp_json_number(c->j, c->parent[i]);
  lp_json_end(c->j);
  lp_json_array(c->j, "site");
  lp_json_number(c->j, (uint64_t)-1);
  for (i = 1; i < c->nnode; i++)
    lp_json_number(c->j, c->at[i]);
  lp_json_end(c->j);
  calls_side(c, LP_NOW);
  if (c->prof->baseline.present)
    calls_side(c, LP_BASE);
  lp_json_end(c->j);
}

void lp_json_calls(LpJson *j, const LpProfile *prof, const LpTree *t,
                   const LpCallsOf *of)
{
  Calls c = {.j = j, .prof = prof, .tree = t, .sparse = of != NULL};
  calls_open(&c, of ? of->most : 0);
  calls_functions(&c);
  calls_sites(&c);
  calls_tree(&c);
  if (of)
    lp_json_sources(j, prof, of->sources, c.func, c.nfunc);
  if (of && of->steps)
    lp_json_steps(
        j, prof,
        &(LpStepsOf){t, c.ofnode, c.at, c.nnode, of->shape, of->steps});
  calls_close(&c);
}
