/*
** From a heap dump in memory to reports, for tests.
*/

#ifndef HEAP_RUN_H
#define HEAP_RUN_H

#include "craft_heap.h"
#include "load.h"
#include "report.h"

typedef struct HeapRun {
  LpLoad l;
  const LpHeap *heap; /* NULL if nothing could be read. */
  int status;
  LpBuf text; /* The report that was written last. */
} HeapRun;

/* Every view of heap dumps, up to NULL. */
extern const char *const heap_views[];

/* Read N bytes as lj-parse-memprof reads a file, whose warning is not shown.
** TIMES: how often the file is given.
*/
HeapRun heap_read_bytes(const void *p, size_t n, size_t times);

/* The same of a dump that is to be joined: its blocks are known. */
HeapRun heap_read_joinable(const CraftHeap *h);

/* Read what was crafted so far. */
HeapRun heap_read(CraftHeap *h);

/* A report of all rows. Valid until the next one. */
const char *heap_report(HeapRun *r, const char *format, const char *view);

/* The same with options. */
const char *heap_report_opt(HeapRun *r, const char *format, const char *view,
                            const LpReportOptions *opt);

/* The path to the object at an address. Valid until the next report. */
const char *heap_place(HeapRun *r, uint64_t addr);

/* What the object at an address is. Valid until the next report. */
const char *heap_object(HeapRun *r, uint64_t addr);

/* The number of the object at an address; the test fails if there is none. */
uint32_t heap_id(const HeapRun *r, uint64_t addr);

/* What holds of every dump, whole or not. */
void heap_check(HeapRun *r);

void heap_run_close(HeapRun *r);

#endif
