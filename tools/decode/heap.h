/*
** Decoded items of a heap dump, and the sink that receives them.
*/

#ifndef LP_HEAP_H
#define LP_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "ljm_heap.h"
#include "record.h"

/* An object. What is not of its type is 0. */
typedef struct LpObject {
  uint64_t addr;
  uint64_t size;        /* Bytes, as the VM counts them. */
  unsigned type;        /* LJM_TYPE_*. */
  unsigned flags;       /* Of its type: LJM_STRING_*, LJM_THREAD_* and so on. */
  int garbage;          /* It is about to be freed. */
  LpStr text;           /* String: its beginning. Prototype: its chunk. */
  uint64_t length;      /* String: all of its bytes. */
  uint64_t line, lines; /* Prototype: where it is defined. */
  int stripped;         /* Prototype: no line information. */
  uint64_t code;        /* C function: its address. */
  uint64_t number;      /* C function: of the builtin; cdata: of its type;
                        ** userdata: its kind; trace: its number. */
  uint64_t slots, empty; /* Table: of its array, */
  uint64_t nodes, free;  /* and of its hash part. */
  uint64_t block[2];     /* Further blocks: array, hash part, stack, base. */
  unsigned weak;         /* Table: LJM_TABLE_WEAK*. */
} LpObject;

/* What a reference is. */
typedef enum LpRefKind {
  LP_REF_META,
  LP_REF_ENV,
  LP_REF_PROTO,
  LP_REF_UPVALUE, /* Number: which one. */
  LP_REF_CONTENT, /* Of an upvalue. */
  LP_REF_ARRAY,   /* Number: which slot. */
  LP_REF_NODE,    /* A key and its value: see below. */
  LP_REF_CONSTANT,
  LP_REF_FRAME, /* A function whose frame is on the stack; number: line. */
  LP_REF_SLOT,  /* Number: which one; perhaps the name of a local. */
  LP_REF_LINK   /* With a name. */
} LpRefKind;

/* A reference of the object before it. */
typedef struct LpRef {
  LpRefKind kind;
  uint64_t number;
  LpStr name;
  unsigned key, value; /* Node: LJM_VALUE_*. */
  uint64_t from;       /* Node: the key, an address or a number. */
  uint64_t to;         /* An address; 0: no object. */
} LpRef;

/* A root, a part of the VM, a type of cdata, or a prototype with the name that
** the code which defines it has for its function.
*/
typedef struct LpHeapName {
  LpStr name;
  uint64_t addr; /* Type: its number. */
  uint64_t size;
  uint64_t info; /* Type: what it is. */
} LpHeapName;

/* Pages beside each other, of the VM's allocator or of machine code. */
typedef struct LpMapped {
  uint64_t kind; /* LJM_MAPPED_*. */
  uint64_t addr, size;
  int resident;
} LpMapped;

/* The writer's own sums, at the end of a whole dump. */
typedef struct LpHeapEnd {
  uint64_t flags;
  uint64_t objects, bytes;
  uint64_t garbage; /* Bytes of what is about to be freed. */
  uint64_t parts;   /* Bytes of the parts of the VM. */
  uint64_t total;   /* The VM's count: the sum of these, and */
  int64_t making;   /* what has no owner yet. */
  uint64_t phase;   /* Of the collector. */
  uint64_t ns;      /* How long it took. */
} LpHeapEnd;

/* The receiver. All pointers must be set. What they get is valid during the
** call only. CTX is passed to all calls.
*/
typedef struct LpHeapSink {
  void *ctx;
  void (*meta)(void *ctx, const LpMeta *m);
  void (*root)(void *ctx, const LpHeapName *n);
  void (*part)(void *ctx, const LpHeapName *n);
  void (*ctype)(void *ctx, const LpHeapName *n);
  void (*defined)(void *ctx, const LpHeapName *n);
  void (*mapped)(void *ctx, const LpMapped *m);
  /* An object that the VM may have been making. */
  void (*making)(void *ctx, uint64_t addr);
  /* An object. Its references follow, up to the next object. */
  void (*object)(void *ctx, const LpObject *o);
  /* The references of an object go on. */
  void (*resume)(void *ctx, uint64_t addr);
  void (*ref)(void *ctx, const LpRef *r);
  /* A block of N bytes that belongs to the userdata before. */
  void (*buffer)(void *ctx, uint64_t addr, uint64_t n);
  /* The dump is whole. */
  void (*end)(void *ctx, const LpHeapEnd *e);
} LpHeapSink;

/* The state of a dump that is read. Start it with zeros but for `strings`:
** LJM_HEAP_STRINGS, until META has another number.
*/
typedef struct LpHeapItems {
  const LpHeapSink *sink;
  uint64_t strings; /* Most bytes of a string that are written. */
  uint64_t objects; /* Read so far. */
  int ended;        /* The sums were read. */
  const char *bad;  /* What was expected where the block went wrong. */
  /* What differences refer to; 0 at the start of each block. */
  uint64_t addr, ref, next;
  uint64_t size[16];
  uint64_t cache[LJM_REF_CACHE];
  char chunk[LJM_NAME_MAX]; /* Of the prototype before. */
  size_t nchunk;
  unsigned weak; /* Of the table whose references are read. */
} LpHeapItems;

/* Decode the N bytes at P, the payload of a block. Returns how many could be
** decoded: fewer than N if `bad` says why.
*/
size_t lp_heap_block(LpHeapItems *it, const uint8_t *p, size_t n);

#endif
