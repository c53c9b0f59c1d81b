/*
** Shortest paths from the roots, and names of objects by them.
*/

#ifndef LP_PATH_H
#define LP_PATH_H

#include "dump.h"
#include "mem.h"

/* A shortest path to each object that is reached: its last step. */
typedef struct LpPaths {
  uint32_t *from; /* Who refers to it, or LP_NONE. */
  uint32_t *edge; /* By which of the graph's references. */
  LpIdMap heads;  /* Of some that are far from the root: one near it. */
} LpPaths;

/* Find the paths of a sealed graph, or if STOP is not NULL those that pass no
** object for which it has not 0.
*/
void lp_paths(const LpGraph *g, const uint8_t *stop, LpPaths *p);

/* Free the memory. */
void lp_paths_free(LpPaths *p);

/* Append the path to an object, as _G.cache.users[17]. One that is longer than
** MOST steps, at most 16, is cut in its middle.
*/
int lp_path_name(LpBuf *b, const LpDump *d, const LpPaths *p, uint32_t id,
                 unsigned most);

/* The function whose code holds an object, or what leads to it: that of the
** last upvalue or local on the path. Returns its prototype, or LP_NONE.
*/
uint32_t lp_path_code(const LpDump *d, const LpPaths *p, uint32_t id);

/* Append what an object is: "table", "function search app.lua:12". */
void lp_path_object(LpBuf *b, const LpDump *d, uint32_t id);

/* Append the last step of the path to an object, if it has a name: the key in a
** table, an upvalue, a local. Returns 0 if it has none.
*/
int lp_path_last(LpBuf *b, const LpDump *d, const LpPaths *p, uint32_t id);

/* Append the step from an object by one of its references. */
void lp_path_step(LpBuf *b, const LpDump *d, uint32_t from, const LpEdge *e);

/* Append where a prototype is defined, behind a space: "app.lua:12". */
void lp_path_proto(LpBuf *b, const LpDump *d, uint32_t id);

/* The name of a type of objects, LJM_TYPE_*. The string is static. */
const char *lp_path_type(unsigned type);

#endif
