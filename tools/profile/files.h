/*
** The files that a profile was read from, their damage, and what they say of
** the recorded memory profiles.
*/

#ifndef LP_FILES_H
#define LP_FILES_H

#include "intern.h"
#include "mem.h"
#include "record.h"

#define LP_FILES_HARM 100 /* So many places of damage are kept. */

typedef struct LpHarm {
  uint32_t file;
  LpDamage damage;
} LpHarm;

/* A process whose memory was recorded. */
typedef struct LpRecorded {
  uint64_t pid, pidns, start; /* As in META; 0: not known. */
} LpRecorded;

typedef struct LpFiles {
  char **name; /* As the command line has them. */
  size_t names;
  uint32_t n;
  uint32_t nbase; /* The first ones, of what the rest is compared with. */
  LpHarm *harm;
  size_t harms;
  uint32_t nharm;
  uint32_t unread;   /* Files that could not be read at all, without those
                     ** of the baseline. */
  int growing;       /* The last one is still being written. */
  uint64_t more;     /* Places of damage that are not kept. */
  LpIntern recorded; /* LpRecorded, packed, */
  uint64_t memory;   /* of so many memory profiles; */
  uint64_t flat;     /* of these, recorded without callers, */
  uint64_t left;     /* and of processes that are not wanted. */
  unsigned legacy;   /* The last one's version, if it is in a legacy format. */
  LpBuf vm;          /* The first one's VM, or empty; */
  LpBuf command;     /* the same of its command line. */
  LpBuf host;        /* The first machine's name that is known, or empty. */
} LpFiles;

/* What is read from now on belongs to the file NAME, which is copied. */
void lp_files_add(LpFiles *f, const char *name);

/* Record damage of the current file. After LP_FILES_HARM places they are only
** counted.
*/
void lp_files_damage(LpFiles *f, const LpDamage *d);

/* The memory of the process R was recorded; its VM is VM, or empty. */
void lp_files_recorded(LpFiles *f, const LpRecorded *r, LpStr vm);

/* The command line of a recorded process, and its machine's name; either may be
** empty.
*/
void lp_files_process(LpFiles *f, LpStr command, LpStr host);

/* What was read so far is the baseline of what comes. */
void lp_files_baseline(LpFiles *f);

/* The name of a file, or NULL. It belongs to F. */
const char *lp_files_name(const LpFiles *f, uint32_t file);

/* Free the memory. */
void lp_files_free(LpFiles *f);

#endif
