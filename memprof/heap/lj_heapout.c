/*
** Heap dump: its output.
*/

#define lj_heapout_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include "lj_heapout.h"
#include "lj_memprof_time.h"

/* -- The stream ------------------------------------------------------------ */

void lj_heap_beginblock(MPDump *d)
{
  uint8_t *mark = lj_wbuf_record(&d->buf, LJM_REC_TIME);
  lj_heap_uleb(d, lj_memprof_now() - d->origin.monotonic);
  lj_wbuf_recordend(&d->buf, mark);
  d->blockobjects = d->objects;
  d->addr = d->ref = d->next = 0;
  setgcrefnull(d->chunk);
  memset(d->size, 0, sizeof(d->size));
  memset(d->cache, 0, sizeof(d->cache));
  if (d->owner != 0) {
    lj_heap_byte(d, LJM_HEAP_BYTE(LJM_HEAP_PART, LJM_PART_OWNER, d->weak));
    lj_heap_uleb(d, d->addr = d->ref = d->owner);
  }
}

/* Writes the buffer out and begins the next block. */
static void heap_flush(MPDump *d)
{
  lj_wbuf_flush(&d->buf, d->blockobjects, 1);
  lj_heap_beginblock(d);
}

void lj_heap_room(MPDump *d, size_t n)
{
  if (LJ_UNLIKELY(lj_wbuf_room(&d->buf) < n))
    heap_flush(d);
}

uint8_t *lj_heap_record(MPDump *d, int code)
{
  d->owner = 0;
  lj_heap_room(d, HEAP_ITEM_MAX);
  return lj_wbuf_record(&d->buf, code);
}

void lj_heap_delta(MPDump *d, uint64_t addr, uint64_t from)
{
  lj_heap_uleb(d, ljm_zigzag(addr - from));
}

void lj_heap_begin(MPDump *d, const GCobj *o, int type, int flags, size_t size)
{
  uint64_t addr = ljm_turn((uint64_t)(uintptr_t)o);
  int dead = lj_heap_isdead(d, o);
  lj_heap_byte(
      d, LJM_HEAP_BYTE(dead ? LJM_HEAP_GARBAGE : LJM_HEAP_OBJECT, type, flags));
  lj_heap_delta(d, addr, d->addr);
  lj_heap_delta(d, size, d->size[type]);
  d->addr = d->ref = d->owner = addr;
  d->next = 0;
  d->weak = 0;
  d->size[type] = size;
  d->objects++;
  d->bytes += size;
  d->garbage += dead ? size : 0;
}

void lj_heap_ref(MPDump *d, const void *o)
{
  uint64_t addr = ljm_turn((uint64_t)(uintptr_t)o);
  unsigned slot;
  if (o == NULL) {
    lj_heap_byte(d, 0);
    return;
  }
  slot = ljm_ref_slot(addr);
  if (d->cache[slot] == addr) {
    lj_heap_uleb(d, (slot << 1 | 1) + 1);
  } else {
    d->cache[slot] = addr;
    lj_heap_uleb(d, (ljm_zigzag(addr - d->ref) << 1) + 1);
  }
  d->ref = addr;
}

/* -- Parts ----------------------------------------------------------------- */

void lj_heap_const(MPDump *d, const GCobj *o)
{
  lj_heap_part(d, LJM_PART_CONST, 0);
  lj_heap_ref(d, o);
}

void lj_heap_link(MPDump *d, const char *name, const GCobj *o)
{
  if (o == NULL)
    return;
  lj_heap_part(d, LJM_PART_LINK, 0);
  lj_heap_name(d, name);
  lj_heap_ref(d, o);
}

#endif
