/*
** Proven names: names of functions by the upvalues of closures. A local
** function whose definition is gone, as that of a module that has been loaded,
** is still an upvalue of the functions that call it, or in a table that is one.
*/

#ifndef LS_LUAPROVEN_H
#define LS_LUAPROVEN_H

#include "luaclosure.h"

#define LS_PROVEN_QUEUE 256 /* Closures to be looked at. */

/* The rank of a name, the higher the better. */
enum {
  LS_PROVEN_NONE,
  LS_PROVEN_FIELD, /* That of a field, in a table that an upvalue has. */
  LS_PROVEN_CALL,  /* By which it was called: verified. */
  LS_PROVEN_LOCAL  /* That of a variable, made where the function was. */
};

/* What is known of a function, or of a table. */
typedef struct LsProvenName {
  uint64_t key;     /* ls_names_protokey(), or the table's address. */
  const char *name; /* Belongs to the pool; NULL: none. */
  uint64_t table;   /* Of a field: the table that it is in, */
  uint64_t held;    /* and the closure that is there. */
  bool data;        /* Closures of it are in a table by several keys. */
  uint64_t fn;      /* A closure of it that was looked at last, */
  uint32_t when;    /* in milliseconds, */
  uint8_t visits;   /* and how many were. */
  uint8_t tries;    /* Calls of it that were looked at. */
  uint8_t rank;     /* LS_PROVEN_* */
  uint8_t slot;     /* Of a variable: its slot, */
  LsHome home;      /* and where it is from. */
  bool final;       /* The name does not change any more. */
} LsProvenName;

typedef struct LsProven {
  LsPool *pool;
  LsFuncs *funcs;
  LsHash map;                      /* Of LsProvenName, by key. */
  uint64_t queue[LS_PROVEN_QUEUE]; /* Closures that are to be looked at. */
  unsigned first, waiting;
  unsigned slots; /* That may still be looked at, for one stack, */
  unsigned calls; /* and calls be looked at. */
} LsProven;

/* Queue the closure at FN, whose upvalues may give names. It is dropped if the
** queue is full.
*/
void ls_proven_closure(LsProven *pn, uint64_t fn);

/* Look at some of the queued closures, and at the tables they lead to. What
** cannot be read is skipped; the work of one call is bounded.
*/
void ls_proven_look(LsProven *pn, LsView *v);

/* The entry of a key, added if there is none; NULL if there is no room. It
** belongs to PN, and is valid until the next entry is added.
*/
LsProvenName *ls_proven_entry(LsProven *pn, uint64_t key);

/* Set f->found if the function has a proven name, which is final
** from now on.
*/
void ls_proven_finalize(LsProven *pn, LsFunc *f);

/* Set the name of a function, N bytes which are copied, unless it has a better
** or a final one. RANK is LS_PROVEN_*.
*/
void ls_proven_put(LsProven *pn, LsProvenName *e, uint8_t rank,
                   const char *name, size_t n);

/* Whether the upvalue U of closure C can have been made for VALUE, which it
** holds: both are of one chunk, and of one function of it as far as is known.
*/
bool ls_proven_own(LsProven *pn, const LsClosure *c, const LsUpvalue *u,
                   const LsClosure *value);

/* Free the memory of *PN, but not the pool and the functions. */
void ls_proven_free(LsProven *pn);

#endif
