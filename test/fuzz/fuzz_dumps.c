/*
** Any bytes as several heap dumps.
*/

#include <string.h>

#include "fuzz_dump.h"
#include "ingest.h"
#include "reader.h"

static const uint8_t dumps_end[] = {0xfd, 0xfd};

/* The heap of a stream of N bytes, analysed. */
static LpHeap *dumps_heap(const void *p, size_t n)
{
  LpProfile *prof = lp_profile_new();
  LpHeap *h = lp_heap_new();
  LpStream st;
  LpSink sink = lp_stream_open(&st, prof);
  LpInput in;
  sink.heap = &h->sink;
  lp_input_memory(&in, p, n);
  lp_reader_run(&in, &sink);
  lp_stream_close(&st, lp_input_offset(&in));
  lp_input_close(&in);
  lp_profile_free(prof);
  lp_heap_analyse(h);
  return h;
}

/* The dump whose blocks have these contents. */
static LpHeap *dumps_read(const uint8_t *p, size_t n)
{
  LpHeap *h;
  Craft c;
  craft_open(&c, 0x7f0000000000);
  c.out.s[c.out.n - 5] = 'd';
  fuzz_craft(&c, p, n);
  h = dumps_heap(c.out.s, c.out.n);
  craft_close(&c);
  return h;
}

size_t fuzz_dumps(const uint8_t *p, size_t n, LpHeap **heap, size_t most)
{
  const uint8_t *from = p;
  size_t all = n, count = 0;
  for (;;) {
    const uint8_t *end = memmem(p, n, dumps_end, sizeof(dumps_end));
    size_t len = end && count + 1 < most ? (size_t)(end - p) : n;
    heap[count++] = dumps_read(p, len);
    if (len == n)
      break;
    p += len + sizeof(dumps_end);
    n -= len + sizeof(dumps_end);
  }
  if (count == 1)
    heap[count++] = dumps_read(from, all);
  return count;
}
