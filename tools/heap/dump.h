/*
** A heap dump that was read: the graph of its objects, and what is known of
** them besides.
*/

#ifndef LP_DUMP_H
#define LP_DUMP_H

#include "graph.h"
#include "heap.h"
#include "identifiers.h"
#include "resident.h"
#include "weak_strings.h"

/* Objects of a type. */
typedef struct LpTypeSum {
  uint64_t objects, bytes;
} LpTypeSum;

/* LpProto.line of a builtin of LuaJIT that is a Lua function: its chunk is its
** name.
*/
#define LP_PROTO_BUILTIN UINT32_MAX

/* A prototype. */
typedef struct LpProto {
  uint32_t chunk;  /* Name in the graph's names. */
  uint64_t line;   /* Where it is defined; 0: the main chunk, or stripped. */
  uint32_t uvname; /* The name of its first upvalue in uvnames. */
  uint32_t nuv;    /* Number of names. */
} LpProto;

/* Memory of the VM that is no object, or a type of cdata. */
typedef struct LpDumpName {
  uint32_t name; /* In the graph's names. */
  uint64_t size;
  uint64_t info; /* Of a type. */
  uint64_t addr; /* Of a part of the VM. */
} LpDumpName;

/* A table with slots that hold nothing. */
typedef struct LpSparse {
  uint32_t id;
  uint64_t bytes;
} LpSparse;

/* A block of memory of an object. */
typedef struct LpDumpBlock {
  uint64_t addr, size;
  uint32_t id; /* The object. */
  int own;     /* It holds the object itself, not a part of it. */
} LpDumpBlock;

/* An object that is not resident, or some of it. */
typedef struct LpAbsent {
  uint32_t id; /* LP_NONE: a part of the VM that is no object. */
  uint64_t bytes;
} LpAbsent;

/* The identity of a dump, and of the recording that it was taken in. What is
** not known is 0.
*/
typedef struct LpDumpOrigin {
  uint64_t id;
  uint64_t recording; /* `monotonic` of its META. */
  uint64_t pid, process_start;
  uint64_t realtime; /* When it was taken. */
} LpDumpOrigin;

/* A reference that the collector clears: it keeps nothing. */
typedef struct LpWeak {
  uint32_t from;
  LpEdge edge;
} LpWeak;

/* A table whose metatable has a __mode. */
typedef struct LpWeakTable {
  uint32_t id;
  uint32_t mode;    /* LJM_TABLE_WEAKKEY, LJM_TABLE_WEAKVALUE or both. */
  uint64_t entries; /* Keys and values that it has. */
  size_t first;     /* Its references in LpDump.weak begin here. */
} LpWeakTable;

typedef struct LpDump {
  LpGraph graph;
  LpDumpOrigin origin;
  int blocks; /* To be set before it is read: blocks are kept, too. */
  LpDumpBlock *block;
  size_t nblock, capblock;
  size_t nseen;      /* Of these, so many were looked up among the pages. */
  uint64_t rss;      /* Of the process, in bytes; 0: it is not known, */
  uint64_t swap;     /* nor is this. */
  uint64_t malloced; /* What malloc() had in use, and free; 0: not known. */
  uint64_t mallocfree;
  LpResident pages;  /* Of the VM's allocator; none: they are not known. */
  LpResident code;   /* With machine code. */
  LpPresence inside; /* Blocks of objects, and of the VM, in these pages. */
  LpAbsent *absent;
  size_t nabsent, capabsent;
  LpTypeSum type[16];
  LpTypeSum garbage; /* What the collector was about to free. */
  uint64_t making;   /* Absolute. */
  LpProto *proto;
  LpIdMap protos; /* Object -> number in proto. */
  size_t nproto, capproto;
  uint32_t *uvname; /* Names of upvalues. */
  size_t nuvname, capuvname;
  LpIdMap defined; /* Prototype -> the name its definition has, or "". */
  LpDumpName *part;
  size_t npart, cappart;
  LpIdMap ctypes; /* Number -> number in ctype. */
  LpDumpName *ctype;
  size_t nctype, capctype;
  LpIdMap number; /* Cdata -> number of its type; C function -> builtin's. */
  LpSparse *sparse;
  size_t nsparse, capsparse;
  uint64_t sparsebytes;
  LpWeak *weak; /* Those of an object are beside each other. */
  size_t nweak, capweak;
  LpWeakTable *weaktable;
  size_t nweaktable, capweaktable;
  unsigned nkeys;       /* That are no objects and have a name. */
  LpWeakString *string; /* Those that are kept if two objects are. */
  size_t nstring, capstring;
  LpEdge *root;
  size_t nroot, caproot;
  uint32_t *made; /* Objects that the VM may have been making. */
  size_t nmade, capmade;
  uint64_t value, node; /* Bytes of a slot of an array, and of a hash part. */
  LpIdentifiers names;  /* How functions and metatables are called. */
  LpHeapEnd end;
  int ended;   /* The end of the dump was read. */
  int damaged; /* To be set when it was read: a part before is missing. */
} LpDump;

/* Start a dump. Pass the sink to a reader. */
void lp_dump_open(LpDump *d, LpHeapSink *sink);

/* All is read: the graph can be used. */
void lp_dump_seal(LpDump *d);

/* Are the writer's sums those of what was read? If not, *D says what differs.
** True for a dump without sums.
*/
int lp_dump_verify(const LpDump *d, LpDamage *damage);

/* Is a part of the dump missing? */
static inline int lp_dump_ispart(const LpDump *d)
{
  return !d->ended || d->damaged;
}

/* The number of objects that are missing; without the end, of those that others
** refer to, which *LEAST says.
*/
uint64_t lp_dump_missing(const LpDump *d, int *least);

/* Free the memory. */
void lp_dump_close(LpDump *d);

/* The prototype of an object that is one, or NULL. */
const LpProto *lp_dump_proto(const LpDump *d, uint32_t id);

/* The object's reference of a KIND, or LP_NONE: a metatable, a prototype. */
uint32_t lp_dump_link(const LpDump *d, uint32_t id, LpEdgeKind kind);

/* The value of a table's field with a string as its key, or LP_NONE. */
uint32_t lp_dump_field(const LpDump *d, uint32_t id, const char *key);

/* The table of loaded modules in the registry, or LP_NONE. */
uint32_t lp_dump_modules(const LpDump *d);

/* Is it the root with this name? ROOT is one of d->root. */
int lp_dump_isroot(const LpDump *d, const LpEdge *root, const char *name);

#endif
