/*
** The strings of a .heapsnapshot: names of nodes and edges, and the texts of
** strings. They are at the end of the file; all else has their numbers.
*/

#ifndef LP_SNAPSHOT_NAMES_H
#define LP_SNAPSHOT_NAMES_H

#include "json.h"
#include "snapshot_nodes.h"

/* Texts of nodes that are strings come first, in the order of nodes, and are
** not copied. Names follow, each once.
*/
typedef struct LpSnapshotNames {
  const LpHeap *h;
  const LpSnapshotNodes *nodes;
  LpIntern names;
  uint32_t *shape; /* By shape: the number of its name, or LP_NONE. */
  LpBuf text;
} LpSnapshotNames;

/* Start with no names. The nodes belong to the caller, and to H. */
void lp_snapshot_names_open(LpSnapshotNames *t, const LpHeap *h,
                            const LpSnapshotNodes *nodes);

/* Free the memory. */
void lp_snapshot_names_close(LpSnapshotNames *t);

/* The number of a name of N bytes. */
uint32_t lp_snapshot_name(LpSnapshotNames *t, const char *s, size_t n);

/* The same of a C string. */
uint32_t lp_snapshot_cname(LpSnapshotNames *t, const char *s);

/* The name with this number, which is no text; *N bytes long. Valid until the
** next name is added.
*/
const char *lp_snapshot_nameof(const LpSnapshotNames *t, uint32_t number,
                               size_t *n);

/* The number of the name of a node: of an object, */
uint32_t lp_snapshot_object_name(LpSnapshotNames *t, uint32_t node);

/* and of a group, without the groups before. Objects of a class have the same
** name.
*/
uint32_t lp_snapshot_group_name(LpSnapshotNames *t, uint32_t group);

/* The number of the name of a field whose key is an object. */
uint32_t lp_snapshot_key_name(LpSnapshotNames *t, uint32_t key);

/* Write all strings, as members of an array. */
void lp_snapshot_names_write(LpSnapshotNames *t, LpJson *j);

#endif
