/*
** The constants of a heap dump, a body of the kind 'd'. doc/stream-format.md
** says what they mean, to the byte.
*/

#ifndef _LJM_HEAP_H
#define _LJM_HEAP_H

#include <stdint.h>

/* First byte of an item: TTTT FF EE of an object, KKKK FF 10 of a part of the
** object before it. EE = 0 is a record, as in other bodies.
*/
#define LJM_HEAP_OBJECT  1 /* An object. */
#define LJM_HEAP_PART    2 /* More of the same object. */
#define LJM_HEAP_GARBAGE 3 /* An object that is about to be freed. */

#define LJM_HEAP_BYTE(ee, type, flags)                                         \
  ((uint8_t)((ee) | (flags) << 2 | (type) << 4))
#define LJM_HEAP_FLAGS(byte) ((byte) >> 2 & 3)
#define LJM_HEAP_TYPE(byte)  ((byte) >> 4)

/* Flags of objects, by type. */
#define LJM_STRING_TEXT     1 /* Its first bytes follow. */
#define LJM_STRING_FIXED    2 /* Never collected. */
#define LJM_UPVALUE_OPEN    1 /* Its value is on a stack. */
#define LJM_UPVALUE_REF     2 /* Its value is an object. */
#define LJM_THREAD_MAIN     1
#define LJM_THREAD_CURRENT  2 /* The one that runs. */
#define LJM_PROTO_SAMECHUNK 1 /* The chunk of the prototype before. */
#define LJM_FUNC_C          1
#define LJM_CDATA_BASE      1 /* Its block begins before it. */
#define LJM_CDATA_FINALIZER 2
#define LJM_TABLE_ARRAY     1
#define LJM_TABLE_HASH      2
#define LJM_UDATA_META      1
#define LJM_UDATA_BUFFER    2 /* A block of its own belongs to it. */

/* The attributes of a table. */
#define LJM_TABLE_WEAKKEY   0x01
#define LJM_TABLE_WEAKVALUE 0x02
#define LJM_TABLE_META      0x04
#define LJM_TABLE_SEPARATE  0x08 /* The array has a block of its own. */

/* Kinds of parts. */
enum {
  LJM_PART_OWNER, /* A block begins inside of the object at this address. */
  LJM_PART_ARRAY, /* A slot of an array; flag 1: slots before it are left out.
                   */
  LJM_PART_NODE,  /* A key and its value. */
  LJM_PART_CONST, /* A constant of a prototype or trace. */
  LJM_PART_FRAME, /* The slots behind it are those of a function. */
  LJM_PART_SLOT,  /* A slot of a stack; flag 1: the local has a name. */
  LJM_PART_LINK   /* Another reference, with a name. */
};

/* Flags of parts. */
#define LJM_PART_GAP   1
#define LJM_PART_NAMED 1

/* Tags of the keys and values that a table has. */
enum {
  LJM_VALUE_NONE, /* The value of a key that was taken away. */
  LJM_VALUE_FALSE,
  LJM_VALUE_TRUE,
  LJM_VALUE_INT,    /* A number without a fraction, within 2^53. */
  LJM_VALUE_NUMBER, /* Another one. */
  LJM_VALUE_LIGHT,  /* Light userdata. */
  LJM_VALUE_REF     /* An object. */
};

/* Roots (records LJM_REC_ROOT), types of cdata (LJM_REC_CTYPE), parts of the VM
** that are no objects (LJM_REC_PART), and prototypes that others define
** (LJM_REC_DEFINED) have names.
*/
enum {
  LJM_REC_ROOT = 18,
  LJM_REC_PART,
  LJM_REC_CTYPE,
  LJM_REC_HEAPEND, /* The sums: the last record of a whole dump. */
  LJM_REC_DUMP,    /* In a recording: a dump was taken here. */
  LJM_REC_MAKING,  /* Objects that the VM may have been making. */
  LJM_REC_DEFINED,
  LJM_REC_MAPPED /* Pages of the VM's allocator, or of machine code. */
};

/* Kinds of MAPPED. */
enum {
  LJM_MAPPED_HEAP, /* A segment of the VM's own allocator. */
  LJM_MAPPED_CODE  /* Machine code of a trace. */
};

/* Flags of HEAPEND. */
#define LJM_HEAP_REGISTERS 1 /* Objects may have been in registers alone. */

/* Bytes of a string that are written, unless META has another number. */
#define LJM_HEAP_STRINGS 256

/* Places of the cache: references that were met lately are written as their
** places.
*/
#define LJM_REF_CACHE 256

/* The place in the cache of an address that was turned (ljm_turn). */
static inline unsigned ljm_ref_slot(uint64_t turned)
{
  return (unsigned)(turned * 0x9e3779b97f4a7c15u >> 56);
}

#endif
