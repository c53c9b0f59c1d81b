/*
** Shared by the fuzz targets of heap dumps.
*/

#ifndef FUZZ_DUMP_H
#define FUZZ_DUMP_H

#include "analysis.h"
#include "fuzz.h"
#include "out.h"

/* Reports are text that no terminal acts upon: they have no control characters,
** nor bytes that a terminal without UTF-8 takes for such. JSON for machines,
** ANY, may have those above 126.
*/
void fuzz_heap_text(const LpOut *out, int any);

/* The heap of a stream of N bytes, analysed. */
LpHeap *fuzz_dump(const void *p, size_t n);

#endif
