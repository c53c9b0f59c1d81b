/*
** Small random heaps and brute force: what is reached without some objects and
** references.
*/

#ifndef RANDOM_HEAP_H
#define RANDOM_HEAP_H

#include "graph.h"

#define RANDOM_OBJECTS 40
#define RANDOM_HEAPS   5000

/* A heap of known references. Object 0 is the root. */
typedef struct RandomHeap {
  unsigned n;
  /* How many, from one to another. */
  unsigned char ref[RANDOM_OBJECTS][RANDOM_OBJECTS];
} RandomHeap;

/* Objects and references by the numbers of the heap, not of the graph. */
typedef struct RandomCut {
  unsigned char object[RANDOM_OBJECTS];
  unsigned char ref[RANDOM_OBJECTS][RANDOM_OBJECTS]; /* How many are taken. */
} RandomCut;

/* A heap of random size and form. Equal numbers make equal heaps. */
void random_heap(RandomHeap *h, uint64_t number);

/* The heap as a graph. */
void random_graph(const RandomHeap *h, LpGraph *g);

/* The object of the heap that has a number in the graph, and reversed. */
unsigned random_object(const LpGraph *g, uint32_t id);
uint32_t random_id(LpGraph *g, unsigned object);

/* The bytes of an object. */
uint64_t random_size(unsigned object);

/* Mark what is reached from an object without what is cut, which may be
** NULL.
*/
void random_reach(const RandomHeap *h, unsigned from, const RandomCut *cut,
                  unsigned char seen[RANDOM_OBJECTS]);

#endif
