/*
** A heap dump as a .heapsnapshot, which Chrome's DevTools and others open.
*/

#ifndef LP_HEAPSNAPSHOT_H
#define LP_HEAPSNAPSHOT_H

#include "out.h"
#include "snapshot_nodes.h"

/* Write a heap. If objects had to be put together, a sentence that says so is
** appended to NOTE.
*/
void lp_heap_snapshot(LpOut *out, const LpHeap *h,
                      const LpSnapshotLimits *limits, LpBuf *note);

#endif
