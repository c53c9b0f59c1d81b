/*
** A heap dump: what it writes to, and how references are encoded.
*/

#ifndef _LJ_HEAPDUMP_H
#define _LJ_HEAPDUMP_H

#include "lj_gc.h"
#include "lj_obj.h"

#include "lj_memprof_stream.h"
#include "lj_wbuf.h"
#include "format/ljm_format.h"
#include "format/ljm_heap.h"

#define HEAP_ITEM_MAX (7u << 10) /* No item takes more bytes. */

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

/* -- A dump (lj_heapdump.c) ------------------------------------------------ */

/* Bytes of the buffer that the options ask for. */
LJ_FUNC size_t lj_heap_bufsize(const struct luam_Prof_options *opt);

/*
** Begins a dump of the VM of L, whose recording has no record of it yet. The
** caller gives it a buffer and a writer. inside: as for lj_heap_take().
*/
LJ_FUNC void lj_heap_init(MPDump *d, lua_State *L,
                          const struct luam_Prof_options *opt, int inside);

/*
** luaM_memprof_dump(). inside: the VM may be inside of its allocator, and have
** objects in registers alone; else it is in a C function that Lua has called.
*/
LJ_FUNC int lj_heap_take(lua_State *L, const struct luam_Prof_options *opt,
                         int inside);

/*
** Writes all of the dump. Calls nothing that allocates or locks. Once the
** writer has failed, which is in buf.error, nothing more is looked at.
*/
LJ_FUNC void lj_heap_write(MPDump *d);

/* -- The stream ------------------------------------------------------------ */

/*
** Makes room for n bytes, HEAP_ITEM_MAX at the most. A new block may begin, and
** then goes on with the object that is being written.
*/
LJ_FUNC void lj_heap_room(MPDump *d, size_t n);

/* Begins an object of so many bytes; there is room for all of its item. */
LJ_FUNC void lj_heap_begin(MPDump *d, const GCobj *o, int type, int flags,
                           size_t size);

/* Writes a reference to an object, or to none if it is NULL. */
LJ_FUNC void lj_heap_ref(MPDump *d, const void *o);

/* Writes a signed difference of two addresses. */
LJ_FUNC void lj_heap_delta(MPDump *d, uint64_t addr, uint64_t from);

/* -- Objects (lj_heapobj.c, and the files that its header names) ---------- */

/* Writes an object with all of its references. */
LJ_FUNC void lj_heap_object(MPDump *d, GCobj *o);

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

#endif
