/*
** Recordings of heaps that no program has, for what reads them:
**
**   heap random OBJECTS   so many are allocated, then freed in random order
**   heap churn EVENTS     a million live; one at random is freed, one comes
**   heap long BYTES       the same, until the recording is so long
**
** To standard output. Time passes at ten million events a second.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "craft.h"

#define HEAP_LIVE  1000000
#define HEAP_SITES 100
#define HEAP_BLOCK 5000 /* Events. */

typedef struct Heap {
  Craft c;
  uint64_t bytes; /* Written. */
  uint64_t top;   /* Where no object has been. */
  uint64_t *addr;
} Heap;

/* Objects of 16 to 112 bytes: what lies at an address is always as large. */
static uint64_t heap_size(uint64_t addr)
{
  return 16 + (addr * 0x9e3779b97f4a7c15u >> 61) * 13;
}

/* Write what there is; a block ends with it. */
static void heap_write(Heap *h, int end)
{
  Craft *c = &h->c;
  if (end)
    craft_totals(c, 0, 0);
  craft_flush(c);
  if (fwrite(c->out.s, 1, c->out.n, stdout) != c->out.n) {
    perror("heap");
    exit(1);
  }
  h->bytes += c->out.n;
  c->out.n = 0;
  if (!end)
    craft_time(c, c->events * 100);
}

/* An object comes, at an address of its own or at one that is free. */
static uint64_t heap_alloc(Heap *h, uint64_t addr)
{
  if (!addr) {
    addr = h->top;
    h->top += (heap_size(addr) + 15) / 16 * 16 + 16;
  }
  craft_alloc(&h->c, 2 + craft_random(HEAP_SITES), addr, heap_size(addr));
  if (h->c.fresh >= HEAP_BLOCK)
    heap_write(h, 0);
  return addr;
}

static void heap_free(Heap *h, uint64_t addr)
{
  craft_free(&h->c, LJM_SITE_INTERNAL, addr, heap_size(addr));
  if (h->c.fresh >= HEAP_BLOCK)
    heap_write(h, 0);
}

/* N objects, freed in random order. */
static void heap_random(Heap *h, uint64_t n)
{
  uint64_t i;
  h->addr = lp_alloc(n * sizeof(uint64_t));
  for (i = 0; i < n; i++)
    h->addr[i] = heap_alloc(h, 0);
  for (; n; n--) {
    i = craft_random(n);
    heap_free(h, h->addr[i]);
    h->addr[i] = h->addr[n - 1];
  }
}

/* Objects come and go, until there are so many events or bytes. What is freed
** is allocated again a thousand objects later.
*/
static void heap_churn(Heap *h, uint64_t events, uint64_t bytes)
{
  uint64_t wait[1000] = {0}, i;
  h->addr = lp_alloc(HEAP_LIVE * sizeof(uint64_t));
  for (i = 0; i < HEAP_LIVE; i++)
    h->addr[i] = heap_alloc(h, 0);
  for (i = 0; h->c.events < events && h->bytes < bytes; i++) {
    uint64_t *addr = &h->addr[craft_random(HEAP_LIVE)], again = wait[i % 1000];
    heap_free(h, *addr);
    wait[i % 1000] = *addr;
    *addr = heap_alloc(h, again);
  }
}

int main(int argc, char **argv)
{
  uint64_t n = argc == 3 ? strtoull(argv[2], NULL, 0) : 0, i;
  Heap h = {.top = 0x7f0000000010};
  if (!n) {
    fputs("usage: heap random OBJECTS | churn EVENTS | long BYTES\n", stderr);
    return 64;
  }
  craft_open(&h.c, 1);
  craft_time(&h.c, 0);
  craft_meta(&h.c, 0);
  craft_proto(&h.c, 1, 0, 9, 0, "@heap.lua", "");
  for (i = 0; i < HEAP_SITES; i++)
    craft_site(&h.c, 2 + i, 0, 1, 1 + i);
  if (strcmp(argv[1], "random") == 0)
    heap_random(&h, n);
  else if (strcmp(argv[1], "churn") == 0)
    heap_churn(&h, n, UINT64_MAX);
  else
    heap_churn(&h, UINT64_MAX, n);
  heap_write(&h, 1);
  craft_close(&h.c);
  free(h.addr);
  return fflush(stdout) != 0;
}
