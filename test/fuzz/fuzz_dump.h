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

/* Any bytes as the contents of the blocks of heap dumps, at most MOST: two
** bytes 0xfd end one, and the last one has all the rest. One alone is there
** twice. Sets HEAP, analysed; returns how many there are.
*/
size_t fuzz_dumps(const uint8_t *p, size_t n, LpHeap **heap, size_t most);

#endif
