/*
** Joins the objects of a heap dump with the sites that allocated their memory:
** who keeps what, and who made it.
**
** The join is by blocks of memory: an object, the array or hash part of a
** table, a stack, the buffer of a string. Each belongs to the site that asked
** for it, as in reports of recordings.
*/

#ifndef LP_JOIN_H
#define LP_JOIN_H

#include "analysis.h"
#include "replay.h"

#define LP_JOIN_PERCENT 1 /* Of what is reached: less makes no keeper. */
#define LP_JOIN_KEEPERS 100

/* Keepers that are always there. */
enum {
  LP_KEEPER_REST,    /* What no other keeper keeps. */
  LP_KEEPER_GARBAGE, /* What nothing refers to. */
  LP_KEEPER_UNKNOWN, /* What may be garbage or not. */
  LP_KEEPER_FIRST
};

/* An object behind which memory branches out, or several that keep memory
** together. What else several keep belongs to the lowest one of the dominator
** tree.
*/
typedef struct LpKeeper {
  const LpShared *shared; /* What several keep; NULL: this one does: */
  uint32_t id;            /* the object; LP_NONE of those that are no object. */
  uint64_t bytes;         /* What it keeps by the dump, others' aside; */
  uint64_t objects;       /* how many these are. */
  size_t made;            /* The first of what it keeps by site, */
  size_t nmade;           /* and how many there are: most bytes first. */
} LpKeeper;

/* Blocks that one keeper keeps, and that one site allocated with the same
** callers. Of samples: those that the sampled ones stand for.
*/
typedef struct LpMade {
  uint32_t keeper;
  uint32_t node; /* The callers, and */
  uint32_t site; /* the site; LP_SITE_BEFORE if they are older than the
                 ** recording, LP_SITE_LOST if that is not known. */
  LpWeight live; /* Objects, and bytes of all blocks. */
  uint64_t oldest, newest; /* Ages in milliseconds; UINT64_MAX: unknown. */
} LpMade;

typedef struct LpJoin {
  const LpHeap *heap;
  LpKeeper *keeper;
  size_t nkeeper;
  uint32_t *of; /* By object: its keeper. */
  LpMade *made; /* In the order of keepers. */
  size_t nmade, capmade;
  LpIdMap threads;  /* Coroutine -> the site that made it, if it is known. */
  LpIdMap parts;    /* Of the VM, by number -> the same. */
  uint64_t sample;  /* Bytes between two samples; 0: all are recorded. */
  int fresh;        /* Only what was born since another dump is in `made`. */
  uint64_t lost;    /* Events before the dump that could not be read. */
  uint64_t blocks;  /* Of objects, */
  uint64_t found;   /* of these in the recording; */
  uint64_t differs; /* of these with another size there. */
} LpJoin;

/* Join a heap, which was analysed and whose blocks are known, with a replay
** that has found its record. If the replay has a base, only blocks that were
** born behind its record are in `made`, and what keeps much of these is a
** keeper, too. The caller frees it with lp_join_free.
*/
LpJoin *lp_join_new(const LpHeap *h, LpReplay *r);

/* Likewise, with N keepers of the caller's, of which `shared` or `id` is set:
** they are those from LP_KEEPER_FIRST on. KEEPER is copied.
*/
LpJoin *lp_join_with(const LpHeap *h, LpReplay *r, const LpKeeper *keeper,
                     size_t n);

/* The site that made a coroutine; LP_NONE if that is not known: it is older
** than the recording, or was not sampled.
*/
static inline uint32_t lp_join_thread(const LpJoin *j, uint32_t id)
{
  return lp_idmap_get(&j->threads, id);
}

/* The same of a part of the VM, which is one of the dump's `part`. */
static inline uint32_t lp_join_part(const LpJoin *j, size_t part)
{
  return lp_idmap_get(&j->parts, part);
}

/* Add to one sum what is in another one. */
void lp_made_merge(LpMade *to, const LpMade *from);

/* Free a join, which may be NULL. */
void lp_join_free(LpJoin *j);

#endif
