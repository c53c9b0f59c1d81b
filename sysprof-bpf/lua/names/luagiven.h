/*
** Names that closures give each other. A local function whose definition is
** gone, as that of a module that has been loaded, is still known by its name to
** the functions that call it: it is an upvalue of theirs, or in a table that is
** one.
*/

#ifndef LS_LUAGIVEN_H
#define LS_LUAGIVEN_H

#include "luaclosure.h"

#define LS_GIVEN_QUEUE 256 /* Closures that wait. */

/* How good a name is. */
enum {
  LS_GIVEN_NONE,
  LS_GIVEN_FIELD, /* That of a field, in a table that an upvalue has. */
  LS_GIVEN_CALL,  /* By which it was called: verified. */
  LS_GIVEN_LOCAL  /* That of a variable, made where the function was. */
};

/* What is known of a function, or of a table. */
typedef struct LsGivenName {
  uint64_t key;     /* ls_names_protokey(), or the table's address; 0: free. */
  const char *name; /* Belongs to the pool; NULL: none. */
  uint64_t table;   /* Of a field: the table that it is in, */
  uint64_t held;    /* and the closure that is there. */
  bool data;        /* Closures of it are in a table by several keys. */
  uint64_t fn;      /* A closure of it that was looked at last, */
  uint32_t when;    /* in milliseconds, */
  uint8_t visits;   /* and how many were. */
  uint8_t tries;    /* Calls of it that were looked at. */
  uint8_t rank;     /* LS_GIVEN_* */
  uint8_t slot;     /* Of a variable: its slot, */
  LsHome home;      /* and where it is from. */
  bool told;        /* It does not change any more. */
  bool searched;    /* Who made it was searched. */
} LsGivenName;

typedef struct LsGiven {
  LsPool *pool;
  LsFuncs *funcs;
  LsGivenName *at; /* Hash table by key. */
  size_t n, size;
  uint64_t queue[LS_GIVEN_QUEUE]; /* Closures that are to be looked at. */
  unsigned first, waiting;
  unsigned slots;    /* That may still be looked at, for one stack, */
  unsigned searches; /* makers of functions be searched, */
  unsigned calls;    /* and calls be looked at. */
} LsGiven;

/* A closure whose variables may give names; it is looked at later. */
void ls_given_closure(LsGiven *gn, uint64_t fn);

/* Look at some of the closures that wait, and at what they lead to. What can
** not be read is passed over; the work of one call is bounded.
*/
void ls_given_look(LsGiven *gn, LsView *v);

/* The entry of a key, made if there was none. NULL if there is no room. It
** moves when there are more.
*/
LsGivenName *ls_given_entry(LsGiven *gn, uint64_t key);

/* Set f->given, if the function has been given a name. From now on it keeps
** that.
*/
void ls_given_tell(LsGiven *gn, LsFunc *f);

/* Give a function a name of N bytes, unless it has a better one. */
void ls_given_put(LsGiven *gn, LsGivenName *e, uint8_t rank, const char *name,
                  size_t n);

/* Whether a variable can have been made for the closure that it has now: both
** are of one chunk, and of one function of it as far as that is known.
*/
bool ls_given_own(LsGiven *gn, const LsClosure *c, const LsUpvalue *u,
                  const LsClosure *value);

/* Give the memory back, but for the pool and the functions. */
void ls_given_free(LsGiven *gn);

#endif
