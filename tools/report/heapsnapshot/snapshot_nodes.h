/*
** Which nodes a .heapsnapshot has: one for each object, as long as viewers can
** take them. Of a larger heap, objects that retain little are put together:
** below the object that dominates them, a node for each shape.
*/

#ifndef LP_SNAPSHOT_NODES_H
#define LP_SNAPSHOT_NODES_H

#include "analysis.h"

typedef struct LpSnapshotLimits {
  size_t most;    /* Nodes that the file may have. */
  size_t top;     /* Most objects with a node of their own; 0: no such limit. */
  uint64_t least; /* Bytes that such an object retains. */
} LpSnapshotLimits;

#define LP_SNAPSHOT_MOST 500000

/* Objects of one shape that the same object dominates. */
typedef struct LpSnapshotGroup {
  uint32_t keeper;  /* That object, or LP_NONE: they are unreachable. */
  uint32_t one;     /* One of them. */
  uint32_t objects; /* How many there are. */
  uint32_t bytes;   /* Their sizes: readers have 32 bits for that. */
  uint32_t next;    /* The next group of the same keeper, or LP_NONE. */
  uint32_t first;   /* Its part of members ends where the next one's begins. */
} LpSnapshotGroup;

/* Nodes, in the order of the file: the root, objects, strings whose text is
** known, the VM, what is unreachable, the VM's parts, groups.
*/
typedef struct LpSnapshotNodes {
  uint32_t n;       /* All of them. */
  uint32_t strings; /* The first string. */
  uint32_t vm;      /* The VM. */
  uint32_t lost;    /* What is unreachable. */
  uint32_t parts;   /* The first part of the VM. */
  uint32_t groups;  /* The first group. */
  uint32_t *of;     /* By object: its node or that of its group, or LP_NONE. */
  uint32_t *object; /* By node, below vm: its object. */
  uint32_t *below;  /* By node, below vm: its first group, or LP_NONE. */
  uint32_t nobody;  /* The first group of unreachable objects, or LP_NONE. */
  LpSnapshotGroup *group;
  size_t ngroup, capgroup;
  uint32_t *member; /* Objects by group. */
  uint64_t least;   /* What an object retains that has a node of its own. */
  int bytype;       /* Groups are by type: there were too many shapes. */
} LpSnapshotNodes;

/* Choose the nodes of a heap. There are no more than the limits allow, but for
** a node for each type of objects.
*/
void lp_snapshot_nodes_open(LpSnapshotNodes *s, const LpHeap *h,
                            const LpSnapshotLimits *limits);

/* Free the memory. */
void lp_snapshot_nodes_close(LpSnapshotNodes *s);

#endif
