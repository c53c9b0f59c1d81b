/*
** The output of a heap dump: objects, their references and other parts.
*/

#ifndef _LJ_HEAPOUT_H
#define _LJ_HEAPOUT_H

#include <string.h>

#include "lj_gc.h"
#include "lj_obj.h"

#include "lj_memprof_meta.h"
#include "lj_wbuf.h"
#include "format/ljm_format.h"
#include "format/ljm_heap.h"

#define HEAP_ITEM_MAX (7u << 10) /* No item takes more bytes. */
#define HEAP_NAME_MAX 128        /* Names of variables are cut to this. */
#define HEAP_PART_MAX (HEAP_NAME_MAX + MP_EVENT_MAX) /* No part is longer. */

/*
** The state of a dump. It allocates nothing on the Lua heap and changes nothing
** there. All but buf and the counts are registers of the stream.
*/
typedef struct MPDump {
  MPBuf buf;
  global_State *g;
  lua_State *L;          /* The thread that runs. */
  MPDumpId id;           /* Its own, and its recording's. */
  MPOrigin origin;       /* The process of the VM, and the time of the dump. */
  MPProcess process;     /* The memory of that. */
  uint32_t stringmax;    /* Most bytes of a string that are written. */
  uint8_t dead;          /* The collector's mark of what it is about to free. */
  uint8_t inside;        /* The VM may be inside of its allocator. */
  uint8_t unread;        /* There is a prototype that is being read. */
  const GCobj *newest;   /* The newest string. */
  uint64_t objects;      /* Objects so far, */
  uint64_t blockobjects; /* before the current block, */
  uint64_t bytes;        /* and the bytes of all of them. */
  uint64_t garbage;      /* Of those: bytes of what is about to be freed. */
  uint64_t parts;        /* Bytes of the parts of the VM. */
  uint64_t next;         /* The next slot of its array. */
  int weak;              /* Which of its references are weak. */
  uint64_t owner;        /* The object that is being written, or 0. */
  uint64_t addr;         /* The last object, turned. */
  uint64_t ref;          /* The last reference, turned. */
  uint64_t size[16];     /* The last size, by type. */
  GCRef chunk;           /* Chunk name of the last prototype. */
  uint64_t cache[LJM_REF_CACHE]; /* The last references, by their hash. */
} MPDump;

/* -- The stream ------------------------------------------------------------ */

/* Begins a block: all registers are zero, and an object may go on in it. */
LJ_FUNC void lj_heap_beginblock(MPDump *d);

/*
** Makes room for n bytes, HEAP_ITEM_MAX at the most. A new block may begin, and
** then goes on with the object that is being written.
*/
LJ_FUNC void lj_heap_room(MPDump *d, size_t n);

/*
** Begins a record, HEAP_ITEM_MAX bytes at the most: the object before it is
** whole. Returns what lj_wbuf_recordend() needs.
*/
LJ_FUNC uint8_t *lj_heap_record(MPDump *d, int code);

/* Begins an object of so many bytes; there is room for all of its item. */
LJ_FUNC void lj_heap_begin(MPDump *d, const GCobj *o, int type, int flags,
                           size_t size);

/* Writes a reference to an object, or to none if it is NULL. */
LJ_FUNC void lj_heap_ref(MPDump *d, const void *o);

/* Writes a signed difference of two addresses. */
LJ_FUNC void lj_heap_delta(MPDump *d, uint64_t addr, uint64_t from);

/* True once the writer has failed: loops over what is large end. */
static LJ_AINLINE int lj_heap_failed(const MPDump *d)
{
  return LJ_UNLIKELY(d->buf.error);
}

/* Writes a byte; there is room. */
static LJ_AINLINE void lj_heap_byte(MPDump *d, int byte)
{
  *d->buf.p++ = (uint8_t)byte;
}

/* Writes an integer as ULEB128; there is room. */
static LJ_AINLINE void lj_heap_uleb(MPDump *d, uint64_t v)
{
  d->buf.p = ljm_putuleb(d->buf.p, v);
}

/*
** True if the collector is about to free an object. What it refers to may be
** gone already, and must not be looked at. What is fixed is never freed, even
** if nothing has marked it.
*/
static LJ_AINLINE int lj_heap_isdead(const MPDump *d, const GCobj *o)
{
  return (o->gch.marked & (d->dead | LJ_GC_FIXED)) == d->dead;
}

/* -- Parts of the object that is being written ----------------------------- */

/* Begins a part, with room for all of it. */
static LJ_AINLINE void lj_heap_part(MPDump *d, int kind, int flags)
{
  lj_heap_room(d, HEAP_PART_MAX);
  lj_heap_byte(d, LJM_HEAP_BYTE(LJM_HEAP_PART, kind, flags));
}

/* Writes the name of a variable; there is room. */
static inline void lj_heap_name(MPDump *d, const char *name)
{
  size_t len = strlen(name);
  lj_wbuf_string(&d->buf, name, len > HEAP_NAME_MAX ? HEAP_NAME_MAX : len);
}

/* Writes the address of a further block of the object; there is room. */
static LJ_AINLINE void lj_heap_near(MPDump *d, const void *p)
{
  lj_heap_delta(d, ljm_turn((uint64_t)(uintptr_t)p), d->addr);
}

/* Writes a constant of a prototype or trace. */
LJ_FUNC void lj_heap_const(MPDump *d, const GCobj *o);

/* Writes a reference that has a name, unless it is NULL. */
LJ_FUNC void lj_heap_link(MPDump *d, const char *name, const GCobj *o);

/* The object that a value is, or NULL. */
static LJ_AINLINE GCobj *lj_heap_valueof(cTValue *tv)
{
  return tvisgcv(tv) ? gcV(tv) : NULL;
}

#endif
