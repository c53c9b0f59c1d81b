/*
** The stream's constants, shared by every writer and by the reader.
** doc/stream-format.md says what they mean, to the byte.
*/

#ifndef _LJM_FORMAT_H
#define _LJM_FORMAT_H

#include <stdint.h>

#include "ljm_leb.h"

/* -- Prologues ------------------------------------------------------------ */

#define LJM_VERSION      0x10 /* Our own version byte. */
#define LJM_PROLOGUE_LEN 7    /* Three letters, version, 3 reserved. */
#define LJM_SYM_FINAL    0x80 /* Ends a symtab, and ends old bodies. */

/* -- Blocks --------------------------------------------------------------- */

/* magic[4] crc:u32 length:u32 first-event:u64, little endian, then payload.
** The CRC32C covers everything behind itself: length, first-event, payload.
*/
#define LJM_BLOCK_MAGIC  "ljb\x10"
#define LJM_BLOCK_CRC    4  /* Offset of the checksum. */
#define LJM_BLOCK_LENGTH 8  /* Offset of the payload's length. */
#define LJM_BLOCK_FIRST  12 /* Offset of the first event's number. */
#define LJM_BLOCK_HEADER 20 /* Bytes before the payload. */

#define LJM_BLOCK_MIN     (16u << 10) /* Smallest buffer, in bytes. */
#define LJM_BLOCK_DEFAULT (64u << 10)
#define LJM_BLOCK_MAX     (16u << 20) /* No block is larger than this. */

/* -- Items: events and records -------------------------------------------- */

/* First byte of an event: TTTT Z S EE (hi to lo). All values of EE are used:
** what is new is a record.
*/
#define LJM_KIND_MASK  0x03
#define LJM_RECORD     0 /* EE = 0: a record, see below. */
#define LJM_ALLOC      1
#define LJM_FREE       2
#define LJM_REALLOC    3
#define LJM_SAMESITE   0x04 /* S: site of the last event of its kind. */
#define LJM_SAMESIZE   0x08 /* Z: size of the last event of its kind. */
#define LJM_INPLACE    0x08 /* Z in a reallocation: it did not move. */
#define LJM_TYPE_SHIFT 4    /* TTTT: LJM_TYPE_* of an allocation. */

#define LJM_ALLOCSIZES 256 /* Size registers of allocations, by site. */
#define LJM_FREESIZES  16  /* Size registers of deallocations, by TTTT. */

/* What an allocation was for. Types of objects have the VM's own numbers. */
enum {
  LJM_TYPE_UNKNOWN,
  LJM_TYPE_ARRAY, /* Array part of a table. */
  LJM_TYPE_HASH,  /* Hash part of a table. */
  LJM_TYPE_OTHER, /* No object: buffers, stacks, tables of the VM. */
  LJM_TYPE_STRING,
  LJM_TYPE_UPVALUE,
  LJM_TYPE_THREAD,
  LJM_TYPE_PROTO,
  LJM_TYPE_FUNCTION,
  LJM_TYPE_TRACE,
  LJM_TYPE_CDATA,
  LJM_TYPE_TABLE,
  LJM_TYPE_USERDATA,
  LJM_TYPE_FOREIGN /* Memory outside of the VM's count. */
};

/* First byte of a record: 0 CCCCC 00. */
#define LJM_RECORD_BYTE(code) ((code) << 2)
#define LJM_RECORD_CODE(byte) ((byte) >> 2)

/* First byte of a change of the stack: 1 PPP QQ 00. */
#define LJM_STACK_BIT          0x80
#define LJM_STACK_POPS(byte)   (((byte) >> 4) & 7)
#define LJM_STACK_PUSHES(byte) (((byte) >> 2) & 3)
#define LJM_STACK_BYTE(pops, pushes)                                           \
  (LJM_STACK_BIT | (pops) << 4 | (pushes) << 2)
#define LJM_STACK_MOREPOPS   7 /* Number of pops less 7 follows. */
#define LJM_STACK_MOREPUSHES 3 /* Number of pushes less 3 follows. */

/* Flags of LJM_REC_STACK. */
#define LJM_STACK_CUT 0x01 /* The outermost site has callers. */

#define LJM_STACK_MAX 4096 /* The register never has more sites. */

/* In the first byte of a sampled reallocation. */
#define LJM_SAMPLED_OLD 0x10 /* The old object had been sampled. */
#define LJM_SAMPLED_NEW 0x20 /* The new one is. */

enum {
  LJM_REC_META = 1, /* Key/value pairs about the recording. */
  LJM_REC_PROTO,    /* A Lua function. */
  LJM_REC_CFUNC,    /* A C function or a builtin. */
  LJM_REC_TRACE,    /* A trace of which only the start is known. */
  LJM_REC_SITE,     /* A function and a line. */
  LJM_REC_TIME,     /* Nanoseconds since the start. */
  LJM_REC_TOTALS,   /* Sums of all events: the last record of a whole stream. */
  LJM_REC_MODULE,   /* A file with machine code. */
  LJM_REC_NATIVE,   /* A function of a module or of the kernel. */
  LJM_REC_PROCESS,
  LJM_REC_THREAD,
  LJM_REC_VM,     /* Set aside. */
  LJM_REC_SAMPLE, /* How often the stack was met in a thread. */
  LJM_REC_OBJECT, /* Set aside for the heap dump. */
  LJM_REC_STACK,  /* The whole stack. */
  LJM_REC_BOOKS,  /* CPU: statistics, the last record of a whole stream. */
  /* The event before it is outside of the VM's count. */
  LJM_REC_FOREIGN
  /* ljm_heap.h has the codes 18 to 22; the first free one is 23. */
};

/* Flags of LJM_REC_PROTO. */
#define LJM_PROTO_CUT      0x01 /* The chunk name was cut. */
#define LJM_PROTO_STRIPPED 0x02 /* No line information. */
#define LJM_PROTO_BYHASH   0x04 /* Nor a line: the hash is of constants, too. */

/* Flags of LJM_REC_CFUNC. */
#define LJM_CFUNC_BUILTIN 0x01 /* Part of LuaJIT itself. */
#define LJM_CFUNC_MARK    0x02 /* No function: something is missing here. */
#define LJM_CFUNC_NAMED   0x04 /* The name in Lua; the symbol is behind it. */

/* Flags of LJM_REC_NATIVE. */
#define LJM_NATIVE_KERNEL   0x01 /* Of the kernel, not of a module. */
#define LJM_NATIVE_NOSYMBOL 0x02 /* The address is that of the sample. */
#define LJM_NATIVE_INFERRED 0x04 /* "(collector)": what the function does. */

#define LJM_MODULE_NONE 0 /* Code that is in no file. */

/* Flags of LJM_REC_SITE. */
#define LJM_SITE_APPROX 0x01 /* The line is approximate. */
#define LJM_SITE_TRACE  0x02 /* Reached in JIT-compiled code. */
#define LJM_SITE_UNSURE 0x04 /* So is the function. */

/* Flags of LJM_REC_SAMPLE. */
#define LJM_SAMPLE_CUT 0x01 /* The stack does not reach the root. */

/* Flags of LJM_REC_TOTALS. */
#define LJM_TOTALS_SWAPPED 0x01 /* Allocator replaced while recording. */
#define LJM_TOTALS_LOST    0x02 /* Events made inside the writer. */
#define LJM_TOTALS_SAMPLED 0x04 /* Not every event was recorded. */
#define LJM_TOTALS_SEGMENT 0x08 /* The next segment goes on from here. */
#define LJM_TOTALS_DROPPED 0x10 /* The recorder has dropped blocks. */

/* Values of LJM_REC_META. */
#define LJM_META_UINT   'u'
#define LJM_META_STRING 's'

/* Sites that need no definition. */
#define LJM_SITE_INTERNAL 0 /* The VM itself: GC, JIT compiler. */
#define LJM_SITE_UNKNOWN  1 /* The recorder did not know it. */
#define LJM_SITE_FIRST    2 /* The first id that is given out. */

#define LJM_NAME_MAX 4096 /* Longer names are cut to this. */

/* What the hash of a function is of, with LJM_PROTO_BYHASH. */
#define LJM_HASH_KGC    64  /* The first constants that are objects, */
#define LJM_HASH_STRING 256 /* and so many bytes of a string. */

#endif
