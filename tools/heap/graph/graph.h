/*
** A heap as a graph: objects, and references between them.
**
** It may be filled by a dump, a core file or a test. Objects are numbered in
** the order in which they are first mentioned. 0 is the root, whose references
** are the roots, with their names.
*/

#ifndef LP_GRAPH_H
#define LP_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "intern.h"
#include "live.h"
#include "ljm_format.h"
#include "mem.h"

#define LP_GRAPH_ROOT 0
#define LP_GRAPH_MAX  ((1u << 28) - 1) /* No object has a larger number. */

/* What a reference is: the upper 4 bits of its label. */
typedef enum LpEdgeKind {
  LP_EDGE_ROOT,     /* The name of a root, by its number in names. */
  LP_EDGE_FIELD,    /* The value of a string key: the key's object. */
  LP_EDGE_ITEM,     /* The value of a key that is a number: that. */
  LP_EDGE_VALUE,    /* The value of another key: its name plus 1, or 0. */
  LP_EDGE_KEY,      /* A key of a table. */
  LP_EDGE_META,     /* Metatable. */
  LP_EDGE_ENV,      /* Environment. */
  LP_EDGE_UPVALUE,  /* A function's upvalue: its number. */
  LP_EDGE_CONTENT,  /* What an upvalue holds. */
  LP_EDGE_PROTO,    /* A function's prototype. */
  LP_EDGE_CONSTANT, /* A constant of a prototype or trace. */
  LP_EDGE_SLOT,     /* A slot of a stack: its number. */
  LP_EDGE_LOCAL,    /* The same with a name: its number in names. */
  LP_EDGE_FRAME,    /* A function on a stack: the line where it stopped. */
  LP_EDGE_LINK      /* Another one: its number in names. */
} LpEdgeKind;

#define LP_EDGE_MANY ((1u << 28) - 1) /* A detail that is larger. */

/* A reference. The last one of an object has a mark. */
typedef struct LpEdge {
  uint32_t to;    /* The number of an object; the mark is its highest bit. */
  uint32_t label; /* Kind and detail. */
} LpEdge;

#define LP_EDGE_LAST (1u << 31)

/* The number of the object that a reference leads to. */
static inline uint32_t lp_edge_to(const LpEdge *e)
{
  return e->to & ~LP_EDGE_LAST;
}

/* What a reference is. */
static inline LpEdgeKind lp_edge_kind(const LpEdge *e)
{
  return (LpEdgeKind)(e->label >> 28);
}

/* Its detail: a number, a name or an object, as LpEdgeKind says. */
static inline uint32_t lp_edge_detail(const LpEdge *e)
{
  return e->label & LP_EDGE_MANY;
}

/* Flags of an object. */
enum {
  LP_NODE_DEFINED = 1, /* It was not only mentioned. */
  LP_NODE_GARBAGE = 2, /* The collector is about to free it. */
  LP_NODE_FIXED = 4,   /* The collector never frees it. */
  LP_NODE_EMPTY = 8,   /* A table without keys. */
  LP_NODE_MADE = 16    /* The VM may have been making it, or what refers to it.
                        */
};

/* An object. Strings have no references, but text. */
typedef struct LpGraphNode {
  uint64_t addr;
  uint32_t size;  /* Bytes, or LP_SIZE_LARGE. */
  uint32_t first; /* Its first reference or LP_NONE; of a string: its text. */
} LpGraphNode;

#define LP_SIZE_LARGE UINT32_MAX

typedef struct LpGraph {
  LpGraphNode *node;
  uint8_t *type;  /* LJM_TYPE_*. */
  uint8_t *flags; /* LP_NODE_*. */
  size_t n, capnode, captype, capflags;
  LpEdge *edge;
  size_t nedge, capedge;
  LpLive ids;     /* Address -> number. */
  LpIntern names; /* Of roots, locals, links. */
  char *text; /* Beginnings of strings, each behind its length in 2 bytes. */
  size_t ntext, captext;
  LpIdMap larges;  /* Number -> number in large: */
  uint64_t *large; /* sizes of LP_SIZE_LARGE bytes and more. */
  size_t nlarge, caplarge;
  uint32_t open; /* The object that is being filled. */
  size_t from;   /* Where its references begin. */
} LpGraph;

/* Start a graph that has nothing but its root. */
void lp_graph_open(LpGraph *g);

/* Free the memory. */
void lp_graph_close(LpGraph *g);

/* The number of the object at ADDR, which may not be defined yet; LP_NONE if
** there are too many.
*/
uint32_t lp_graph_id(LpGraph *g, uint64_t addr);

/* Define the object at ADDR, of TYPE and so many bytes. Its references follow,
** up to the next object. Returns its number, or LP_NONE if it is defined
** already, there are too many, or ADDR is 0.
*/
uint32_t lp_graph_object(LpGraph *g, uint64_t addr, unsigned type,
                         uint64_t size, unsigned flags);

/* Go on with the references of an object, which is the last one. If it is not,
** the last one is complete, and references are lost up to the next object.
*/
void lp_graph_resume(LpGraph *g, uint64_t addr);

/* Add a reference of the object that is being filled, to the one at ADDR. */
void lp_graph_edge(LpGraph *g, LpEdgeKind kind, uint64_t detail, uint64_t addr);

/* Set the text of the string that was just defined. */
void lp_graph_text(LpGraph *g, const void *s, size_t n);

/* The number of a name. */
uint32_t lp_graph_name(LpGraph *g, const void *s, size_t n);

/* All objects are there; ROOT are N references of the root, which are copied.
** Nothing can be added from here on.
*/
void lp_graph_seal(LpGraph *g, const LpEdge *root, size_t n);

/* No more objects are looked up by address: free the map. */
void lp_graph_forget(LpGraph *g);

/* The size of an object in bytes. */
uint64_t lp_graph_size(const LpGraph *g, uint32_t id);

/* The text of a string, *N bytes long; or NULL. Valid while the graph is. */
const char *lp_graph_textof(const LpGraph *g, uint32_t id, size_t *n);

/* The first reference of an object, or NULL. The one behind it follows, until
** one has the mark LP_EDGE_LAST.
*/
static inline const LpEdge *lp_graph_first(const LpGraph *g, uint32_t id)
{
  uint32_t first = g->node[id].first;
  return first == LP_NONE || g->type[id] == LJM_TYPE_STRING ? NULL
                                                            : g->edge + first;
}

/* The reference behind E, or NULL. */
static inline const LpEdge *lp_graph_next(const LpEdge *e)
{
  return e->to & LP_EDGE_LAST ? NULL : e + 1;
}

/* Follow references of a sealed graph from the N objects in FROM. REACHED, by
** number of the object, gets 1 for each that is met; one that has it before is
** not followed.
*/
void lp_graph_reach(const LpGraph *g, const uint32_t *from, size_t n,
                    uint8_t *reached);

/* Append N bytes of the dump; those that are no printable ASCII as \ddd. */
void lp_graph_quote(LpBuf *b, const char *s, size_t n);

#endif
