/*
** Replay: what was live in a recording where a heap dump was taken, by address.
** A sink for the reader.
*/

#ifndef LP_REPLAY_H
#define LP_REPLAY_H

#include "dump.h"
#include "ingest.h"
#include "object_age.h"

/* How far a replay has come. */
typedef enum LpReplayState {
  LP_REPLAY_SEEKS, /* The dump's record was not met yet. */
  LP_REPLAY_OTHER, /* The recording is not the one that the dump names. */
  LP_REPLAY_FOUND  /* It was: nothing is read behind it. */
} LpReplayState;

typedef struct LpReplay {
  LpStream st; /* Definitions, time and damage; must be the first. Its counters
               ** stay 0. */
  LpSink counted; /* What the sink would be if it counted. */
  const LpDump *dump;
  const LpDump *base; /* An earlier one: what is born behind its record is new;
                      ** NULL: all is. */
  uint64_t since;     /* The tick from which on it is; UINT64_MAX: the record of
                      ** the base was not met. */
  LpReplayState state;
  LpLive live; /* Address -> number in blocks. */
  LpObjectAges
      ages;        /* The clock is the recording's time, in milliseconds; behind
                   ** the record of the base it is one ahead. */
  uint64_t events; /* Read before the record. */
  LpDumpMark mark; /* The record, if it was found. */
} LpReplay;

/* Begin to replay a recording up to the record of a dump, whose metadata are
** known; so are those of BASE, an earlier one, which may be NULL. Functions and
** sites go to PROF. Returns the sink for the reader; its context is R.
*/
LpSink lp_replay_open(LpReplay *r, LpProfile *prof, const LpDump *dump,
                      const LpDump *base);

/* Free the memory. */
void lp_replay_close(LpReplay *r);

/* The block at ADDR as the recording has it; NULL if there is none. Valid until
** R is closed.
*/
const LpObjectAge *lp_replay_find(LpReplay *r, uint64_t addr);

/* Milliseconds from the birth of a block to the dump. */
uint64_t lp_replay_age(const LpReplay *r, const LpObjectAge *block);

/* Was a block born behind the record of the base? A reallocation is no birth.
 */
int lp_replay_isnew(const LpReplay *r, const LpObjectAge *block);

/* Events before the record that could not be read. */
static inline uint64_t lp_replay_lost(const LpReplay *r)
{
  return r->mark.events > r->events ? r->mark.events - r->events : 0;
}

/* Can the dump be joined with the recording, all of which was read? If not, the
** reason is appended to WHY.
*/
int lp_replay_joins(const LpReplay *r, LpBuf *why);

/* There is a base, and the dump can be joined: is what was born behind the
** base's record known? If not, the reason is appended to WHY.
*/
int lp_replay_compares(const LpReplay *r, LpBuf *why);

#endif
