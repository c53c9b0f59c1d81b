/*
** The edges of a .heapsnapshot: references by type and name.
*/

#ifndef LP_SNAPSHOT_EDGES_H
#define LP_SNAPSHOT_EDGES_H

#include "snapshot_names.h"

/* Fields of a node. */
#define LP_SNAPSHOT_NODE 6

/* Types of edges, as the file numbers them. */
typedef enum LpSnapshotEdgeType {
  LP_SNAPSHOT_CONTEXT,
  LP_SNAPSHOT_ELEMENT, /* Has a number; all others have names. */
  LP_SNAPSHOT_PROPERTY,
  LP_SNAPSHOT_INTERNAL,
  LP_SNAPSHOT_HIDDEN,
  LP_SNAPSHOT_SHORTCUT,
  LP_SNAPSHOT_WEAK
} LpSnapshotEdgeType;

typedef struct LpSnapshotEdges {
  const LpHeap *h;
  const LpSnapshotNodes *nodes;
  LpSnapshotNames *names;
  LpJson *json;      /* NULL: edges are only counted. */
  uint32_t *seen;    /* By node: the last one with an edge to it, plus 1. */
  LpIdMap weak;      /* Object -> the first of its weak references. */
  uint32_t kind[16]; /* By LP_EDGE_*: the name of all, plus 1; or 0. */
  LpBuf name;
} LpSnapshotEdges;

/* Start to count edges, or to write them to JSON. */
void lp_snapshot_edges_open(LpSnapshotEdges *w, const LpHeap *h,
                            const LpSnapshotNodes *nodes,
                            LpSnapshotNames *names, LpJson *json);

/* The edges of a node. Returns how many there are: the same whether they are
** counted or written.
*/
uint32_t lp_snapshot_edges(LpSnapshotEdges *w, uint32_t node);

/* Free the memory. */
void lp_snapshot_edges_close(LpSnapshotEdges *w);

#endif
