/*
** Small heaps whose figures are known, for tests. Objects have numbers from 1,
** the root, to 99 and from 1000 on.
*/

#ifndef HEAP_GRAPH_H
#define HEAP_GRAPH_H

#include <check.h>

#include "heap_run.h"

/* The address of object I. */
#define GRAPH_AT(i) (0x7f0000010000 + (uint64_t)(i)*0x100)

/* The hash part of table I. */
#define GRAPH_HASH(i) (GRAPH_AT(i) + 0x200000)

/* Strings that are keys, of 8 bytes. */
enum { GRAPH_ID = 100, GRAPH_OTHER };

/* A dump whose only root is object 1. */
void graph_open(CraftHeap *h, const char *root);

/* A table {id = ID, other = OTHER}; 0: it has not that field. */
void graph_table(CraftHeap *h, unsigned i, uint64_t size, unsigned id,
                 unsigned other);

/* A table of N objects, from FIRST on. */
void graph_list(CraftHeap *h, unsigned i, uint64_t size, unsigned first,
                unsigned n);

/* A table {id = true}. */
void graph_record(CraftHeap *h, unsigned i, uint64_t size);

/* Ends the dump and reads it. */
HeapRun graph_read(CraftHeap *h);

/* A random number below N. */
unsigned graph_below(uint64_t *state, unsigned n);

/* A random heap of N tables with two references each; a third are lists. It is
** not checked: reports take most of the time.
*/
HeapRun graph_random(uint64_t *state, unsigned n);

/* The same, to be joined with a recording. */
HeapRun graph_joinable(CraftHeap *h);

/* The name of a shape. Valid until the next one, or a report. */
const char *graph_shape(HeapRun *r, uint32_t shape);

#endif
