/*
** What the recorder's tests share: a writer into memory that can misbehave,
** and the books of what it was given.
*/

#ifndef REC_H
#define REC_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lauxlib.h"
#include "lmisclib.h"
#include "lua.h"
#include "lualib.h"

/* -- Streams -------------------------------------------------------------- */

/* A stream in memory, and how its writer behaves. */
typedef struct RecStream {
  char *p; /* What the writer took. */
  size_t n;
  size_t room;
  size_t calls;  /* Of the writer. */
  size_t failat; /* The call that returns 0, or 0. */
  size_t most;   /* Takes so many bytes a call, or 0 for all. */
  int excess;    /* Claims to have taken more than it was given. */
  int stops;     /* Calls of on_stop. */
  int stopcode;  /* What on_stop returns. */
  long owner;    /* The only process that may write. */
  int *trespass; /* Counts writes of other processes. */
  void (*hook)(struct RecStream *s); /* Called by the writer. */
  void *ctx;                         /* For the hook. */
} RecStream;

size_t rec_write(const void *data, size_t len, void *arg);
int rec_onstop(void *arg);
/* A stream of all that a file has. */
RecStream rec_read(const char *path);

void rec_free(RecStream *s);
struct luam_Prof_options rec_options(RecStream *s, int format);

/* -- Books ---------------------------------------------------------------- */

/* What the decoder in test/lua finds in a stream. */
typedef struct RecBooks {
  bool whole;
  char error[160]; /* Why it is not. */
  uint64_t allocs; /* Events. */
  uint64_t reallocs;
  uint64_t frees;
  uint64_t unknown;       /* Events of unknown origin. */
  uint64_t marks;         /* Events with the RFC's mark. */
  uint64_t times;         /* TIME records. */
  uint64_t errors;        /* Events that cannot be. */
  int64_t sum;            /* Of all new sizes, less all old sizes. */
  uint64_t before, after; /* Bytes live by META and TOTALS. */
  uint64_t lost, flags;   /* Of TOTALS. */
  uint64_t dumps;         /* DUMP records. */
  uint64_t dropped;       /* Events of blocks that were dropped, */
  uint64_t dropblocks;    /* so many by TOTALS, */
  uint64_t undefined;     /* and events whose site was defined there. */
} RecBooks;

RecBooks rec_books(const RecStream *s);

/* Checks a whole stream whose VM grew by SUM bytes. */
void rec_checkwhole(const RecStream *s, int64_t sum);

/* Checks that a stream is good as far as it goes. */
RecBooks rec_checkprefix(const RecStream *s);

/* Checks a whole heap dump, but for checksums. Returns the objects in it. */
size_t rec_checkdump(const RecStream *s);

/* -- VMs ------------------------------------------------------------------ */

lua_State *rec_open(void);
int64_t rec_live(lua_State *L);
void rec_run(lua_State *L, const char *code);

/* Lua code of about 1,000 and of about 100,000 events. */
extern const char rec_small[];
extern const char rec_large[];

/* Formats, for loops. */
#define REC_FORMATS (LUAM_PROF_TARANTOOL + 1)

/* How often to try for an unlucky moment: ROUNDS, or a fifth of them where
** LJPROF_QUICK is set.
*/
int rec_rounds(int rounds);

/* Called before and after each test, if they are set before rec_main(). */
extern void (*rec_setup)(void);
extern void (*rec_teardown)(void);

/* Runs the suite that NAME and its tests make. Returns main()'s status. */
int rec_main(const char *name, const TTest *const *tests, size_t n);

/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is. */
#define REC_MAIN(name, t) rec_main(name, t, sizeof(t) / sizeof(*(t)))

#endif
