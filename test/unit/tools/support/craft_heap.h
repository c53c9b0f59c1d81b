/*
** Heap dumps made by hand, for tests. Knows the document, not the recorder and
** not the reader.
*/

#ifndef CRAFT_HEAP_H
#define CRAFT_HEAP_H

#include <stddef.h>

#include "craft.h"
#include "ljm_heap.h"

typedef struct CraftHeap {
  Craft c;
  uint64_t addr, ref, size[16]; /* Registers of the block. */
  uint64_t cache[256];
  uint64_t strings; /* Most bytes of a string. */
  uint64_t objects, bytes, garbage, parts;
  int64_t making; /* For craft_heap_end: bytes without an owner, */
  uint64_t flags; /* and its flags. */
  int dead;       /* Objects from here on are about to be freed. */
} CraftHeap;

/* A table. What is 0 it has not. */
typedef struct CraftTable {
  uint64_t addr, size;
  unsigned weak; /* LJM_TABLE_WEAK*. */
  uint64_t meta;
  uint64_t slots, empty, array; /* Array part; the address of its block. */
  uint64_t nodes, free;         /* Hash part. */
} CraftTable;

/* -- The frame ------------------------------------------------------------- */

/* The prologues, and META in the first block. */
void craft_heap_open(CraftHeap *h, uint64_t strings);
/* End the block. If it begins inside of an object, so must the next one. */
void craft_heap_flush(CraftHeap *h);
/* The sums, and the end of the block. */
void craft_heap_end(CraftHeap *h);
void craft_heap_root(CraftHeap *h, uint64_t addr, const char *name);
/* An object that the VM may have been making. */
void craft_heap_making(CraftHeap *h, uint64_t addr);
/* A prototype that another one defines, and the name; "": none. */
void craft_heap_defined(CraftHeap *h, uint64_t addr, const char *name);
/* What the kernel counts of the process. */
void craft_heap_process(CraftHeap *h, uint64_t rss, uint64_t swap);
/* Of which process the dump is, and when that began. */
void craft_heap_origin(CraftHeap *h, uint64_t pid, uint64_t start);
/* N runs of pages of 4096 bytes, the first one resident. */
void craft_heap_mapped(CraftHeap *h, uint64_t kind, uint64_t addr,
                       const uint64_t *run, size_t n);
void craft_heap_vmpart(CraftHeap *h, uint64_t size, const char *name);
void craft_heap_ctype(CraftHeap *h, uint64_t id, uint64_t info, uint64_t size,
                      const char *name);
void craft_heap_close(CraftHeap *h);

/* -- Objects --------------------------------------------------------------- */

/* A string of LENGTH bytes whose first N are known; no more than
** craft_heap_open was told are written.
*/
void craft_string_of(CraftHeap *h, uint64_t addr, uint64_t size, unsigned flags,
                     uint64_t length, const char *s, size_t n);
void craft_string(CraftHeap *h, uint64_t addr, const char *s);
void craft_upvalue(CraftHeap *h, uint64_t addr, uint64_t slot, uint64_t to);
void craft_coroutine(CraftHeap *h, uint64_t addr, uint64_t size, uint64_t env);
/* CHUNK may be NULL: that of the prototype before. N names of upvalues. */
void craft_code(CraftHeap *h, uint64_t addr, const char *chunk, uint64_t line,
                const char *const *name, size_t n);
void craft_closure(CraftHeap *h, uint64_t addr, uint64_t proto, uint64_t env,
                   const uint64_t *upvalue, size_t n);
void craft_cclosure(CraftHeap *h, uint64_t addr, uint64_t ffid, uint64_t code,
                    const uint64_t *upvalue, size_t n);
void craft_jit(CraftHeap *h, uint64_t addr, uint64_t no);
void craft_cdata(CraftHeap *h, uint64_t addr, uint64_t size, uint64_t base,
                 uint64_t ctype);
void craft_table_of(CraftHeap *h, const CraftTable *t);
void craft_table(CraftHeap *h, uint64_t addr, uint64_t size);
void craft_userdata(CraftHeap *h, uint64_t addr, uint64_t size, uint64_t env,
                    uint64_t meta, uint64_t buffer);

/* -- Parts of the object before -------------------------------------------- */

/* The block goes on with an object; WEAK as of its table. */
void craft_owner(CraftHeap *h, uint64_t addr, unsigned weak);
void craft_item(CraftHeap *h, uint64_t gap, uint64_t to);
/* KEY is an address, a number, or not used; TO likewise. */
void craft_node(CraftHeap *h, unsigned ktag, uint64_t key, unsigned vtag,
                uint64_t to);
/* The field of a key that is a string. */
void craft_field(CraftHeap *h, uint64_t key, uint64_t to);
void craft_constant(CraftHeap *h, uint64_t to);
void craft_frame(CraftHeap *h, uint64_t line, uint64_t func);
void craft_stackslot(CraftHeap *h, uint64_t slot, const char *name,
                     uint64_t to);
void craft_link(CraftHeap *h, const char *name, uint64_t to);

#endif
