/*
** Shapes: groups of objects that look alike. Tables by the name of their
** metatable, or if it has none by their keys and its; userdata by metatable;
** functions by prototype; cdata by type; strings by pattern.
*/

#ifndef LP_SHAPES_H
#define LP_SHAPES_H

#include "graph.h"
#include "mem.h"

struct LpHeap;

typedef struct LpShapeSum {
  uint64_t objects, bytes;
  uint64_t retained; /* What its objects keep alive, each byte once. */
  uint32_t one;      /* The first of its objects. */
  uint8_t type;      /* LJM_TYPE_*. */
} LpShapeSum;

typedef struct LpShapes {
  LpIntern keys; /* What makes a shape, packed. */
  LpShapeSum *shape;
  size_t cap;
  uint32_t *of; /* By object: the number of its shape, or LP_NONE. */
} LpShapes;

/* Sort all objects of H, whose dominators are known, into shapes. */
void lp_shapes_open(LpShapes *s, const struct LpHeap *h);

/* Free the memory. */
void lp_shapes_close(LpShapes *s);

/* Append the name of a shape: "table {id, name}", "function get
** (app.lua:3)".
*/
void lp_shape_name(LpBuf *b, const struct LpHeap *h, uint32_t shape);

/* Does an object count in its shape? Garbage does not, nor does what may be. */
int lp_shape_counts(const struct LpHeap *h, uint32_t id);

/* Does a shape say little: a list or a map, or no more than the type? */
int lp_shape_isplain(const struct LpHeap *h, uint32_t shape);

/* Is an object a table whose names are no fields: more of them than a record
** has, or none?
*/
int lp_shape_ismap(const struct LpHeap *h, uint32_t id);

/* The same of an object's shape; of a string, its text. */
void lp_shape_nameof(LpBuf *b, const struct LpHeap *h, uint32_t id);

#endif
