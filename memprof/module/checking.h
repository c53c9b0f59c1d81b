/*
** What the parts of the check share.
*/

#ifndef LJM_CHECKING_H
#define LJM_CHECKING_H

#include "check.h"
#include "peek.h"

/* More blocks than the check's VM ever allocates. */
#define CHECK_BLOCKS 16384

/* A block of the check's VM. */
typedef struct MPBlock {
  uint64_t addr;
  uint64_t size;
} MPBlock;

typedef struct MPCheck {
  lua_State *L; /* That the check runs in. */
  const MPLayout *lay;
  MPPeek pk;
  unsigned links;      /* Of nodes in a table, at the last look. */
  uint64_t white;      /* The mark of what is new, at the last look. */
  int bad;             /* MP_CHECK_*, or the first entry that is not so. */
  uint64_t g;          /* global_State. */
  uint64_t callerbase; /* Where the Lua function that calls has its slots. */
  uint64_t callerfn;   /* And the function. */
  uint64_t callerpt;
  /* The spy in the allocator's place. */
  lua_Alloc allocf;
  void *allocd;
  MPBlock *block;
  unsigned nblock;
  int watch;        /* WATCH_*. */
  unsigned seen;    /* What was watched for. */
  uint64_t strings; /* How many there were then. */
} MPCheck;

/* Of WATCH_GC. */
#define CHECK_SEENSTRING 1
#define CHECK_SEENTABLE  2

enum { WATCH_NOTHING, WATCH_INTERP, WATCH_TRACE, WATCH_GC };

#define LAY(name) ((uint64_t)(int64_t)ck->lay->n[MP_##name])

/* Fails with an entry of the layout unless ok. The first failure counts. */
#define WANT(name, ok)                                                         \
  do {                                                                         \
    if (!check_want(ck, MP_##name, (ok)))                                      \
      return;                                                                  \
  } while (0)

/* The same without returning: 0 if something has failed by now. */
static inline int check_want(MPCheck *ck, int entry, int ok)
{
  if (!ok && ck->bad == MP_CHECK_FITS)
    ck->bad = entry;
  return ok && ck->bad == MP_CHECK_FITS;
}

/* Memory: ~0 if it cannot be read, which is nothing that is looked for. */
static inline uint64_t check_get(MPCheck *ck, uint64_t addr, size_t size)
{
  uint64_t v = 0; /* Little endian. */
  if (size > sizeof(v) || !mp_peek(&ck->pk, addr, &v, size))
    return ~(uint64_t)0;
  return v;
}

#define GET(type, addr) ((uint64_t)check_get(ck, (addr), sizeof(type)))
#define PTR(addr)       GET(void *, addr)
#define U32(addr)       GET(uint32_t, addr)
#define U16(addr)       GET(uint16_t, addr)
#define U8(addr)        GET(uint8_t, addr)

/* A reference to an object, or to memory. */
static inline uint64_t check_ref(MPCheck *ck, uint64_t addr)
{
  return check_get(ck, addr, (size_t)LAY(refsize));
}

/* The tag of a slot's value. */
static inline int32_t check_tag(MPCheck *ck, uint64_t raw)
{
  return LAY(refsize) == 8 ? (int32_t)((int64_t)raw >> 47)
                           : (int32_t)(raw >> 32);
}

/* The address that it refers to. */
static inline uint64_t check_ptr(MPCheck *ck, uint64_t raw)
{
  return LAY(refsize) == 8 ? raw & (((uint64_t)1 << 47) - 1) : (uint32_t)raw;
}

/* An address of this process, as the check's numbers have it. */
static inline uint64_t check_addr(const void *p)
{
  return (uint64_t)(uintptr_t)p;
}

/* True if an object is of a type, given by its tag. */
static inline int check_is(MPCheck *ck, uint64_t obj, int32_t tag)
{
  return U8(obj + LAY(gct)) == (uint8_t)~tag;
}

#define IS(obj, name) check_is(ck, (obj), (int32_t)LAY(tag_##name))

/* The size in bytes of a block of the check's VM, or 0. */
static inline uint64_t check_block(const MPCheck *ck, uint64_t addr)
{
  unsigned i = ck->nblock;
  while (i-- > 0)
    if (ck->block[i].addr == addr)
      return ck->block[i].size;
  return 0;
}

/* The address of the string object that lies at an index of the stack. */
static inline uint64_t check_str(MPCheck *ck, int idx)
{
  return check_addr(lua_tostring(ck->L, idx)) - LAY(str_size);
}

/* A function's proto, and its instructions. */
#define CHECK_PT(fn) (check_ref(ck, (fn) + LAY(fn_pc)) - LAY(pt_size))
#define CHECK_BC(pt) ((pt) + LAY(pt_size))

/*
** The checks proper. Each sets ck->bad to the first entry of the layout that is
** not so, and does nothing more then. Arguments are those that the check's
** program has given to the C function that calls the check.
*/

/* -- check_state.c: the function on top is ours, called by a Lua function -- */

/* Arguments: 1234.5, nil, false, a string, a table, a function, a coroutine. */
void mp_check_values(MPCheck *ck);

/* The VM's state, whatever it does: nothing runs in it. */
void mp_check_global(MPCheck *ck);

/* The VM's state, while it runs a C function. */
void mp_check_state(MPCheck *ck);

/* From our frame to that of the Lua function that calls. */
void mp_check_frames(MPCheck *ck);

/* A new coroutine, the argument 7. */
void mp_check_coroutine(MPCheck *ck);

/* Our C frame: called by lua_call() for nres results, from an outer one. */
void mp_check_cframe(MPCheck *ck, uint64_t outer, uint64_t nres);

/* We are in a coroutine, resumed by the one that is the argument 1. */
void mp_check_resumed(MPCheck *ck);

/* The mask of hooks, set to one that we know. Not in a VM with hooks. */
void mp_check_hooks(MPCheck *ck);

/* The address of the C frame on top of a coroutine, without its flags. */
uint64_t mp_check_cframeof(MPCheck *ck, uint64_t L);

/* -- check_objects.c ------------------------------------------------------- */

/* The list of objects, and the count of bytes. The collector is stopped. */
void mp_check_heap(MPCheck *ck);

/* True if a block has the size of a string of so many bytes. */
int mp_check_isstr(MPCheck *ck, uint64_t o, uint64_t len);

/* Strings: the newest is the first in its chain. */
void mp_check_strings(MPCheck *ck);

/* Tables: their array part, and the nodes of their hash part. */
void mp_check_table(MPCheck *ck);

/* The mark of what is new, one of two: the argument 1 says which. */
void mp_check_white(MPCheck *ck);

/* Arguments: a C function, a Lua function, a builtin of the VM. */
void mp_check_functions(MPCheck *ck);

/*
** Arguments: a function whose first upvalue is the first variable of the
** function that calls us, and changes; one whose first never does; and
** one whose first changes, while its second and third do not.
*/
void mp_check_upvalues(MPCheck *ck);

/* The function that calls us, against its dump. */
void mp_check_proto(MPCheck *ck);

/* Arguments: functions of many kinds, which define none. */
void mp_check_protos(MPCheck *ck);

/* Arguments: a function whose instructions are known, and one without "...". */
void mp_check_ops(MPCheck *ck);

/* -- check_trace.c --------------------------------------------------------- */

/* The VM is about to call its allocator. */
void mp_check_alloc(MPCheck *ck, const void *block);

/*
** The traces of the function that calls us: two loops, one behind the other,
** and a branch of the first.
*/
void mp_check_traces(MPCheck *ck);

/* Arguments: a trace's number, its machine code, a string, and its address. */
void mp_check_mcode(MPCheck *ck);

/* The mode of the VM's profiler, and the table of handlers. */
void mp_check_mode(MPCheck *ck);

#endif
