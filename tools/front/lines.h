/*
** Lua lines, with the samples and the bytes of each.
*/

#ifndef FT_LINES_H
#define FT_LINES_H

#include "intern.h"
#include "mem.h"

/* What lines are sorted by. */
typedef enum FtSort {
  FT_SORT_SELF,
  FT_SORT_TOTAL,
  FT_SORT_NAME,
  FT_SORT_BYTES
} FtSort;

typedef struct FtLine {
  uint64_t self, total; /* Samples of the last interval: in the line itself, */
  uint64_t all_self;    /* and in all it called. Likewise since the start. */
  uint64_t bytes;       /* Live in the recording. */
  uint64_t stack;       /* The last stack it was met in. */
  uint32_t id;          /* In names. */
} FtLine;

/* At most FT_LINES_MAX lines are kept; others are one, "(other lines)". */
#define FT_LINES_MAX 65536

typedef struct FtLines {
  LpIntern names;  /* "function chunk:line". */
  LpIntern places; /* "chunk:line". */
  FtLine *line;    /* By number in names. */
  size_t room;
  uint64_t *bytes; /* By number in places. */
  size_t nbytes;
  uint32_t *place; /* Of each line. */
  size_t nplace;
  uint64_t samples, all_samples;
  uint64_t stacks; /* Read so far. */
} FtLines;

/* A new interval begins: its samples are 0. */
void ft_lines_turn(FtLines *t);

/* Add a folded stack: frames with ';' between, a blank, a count. TEXT is
** changed. What is none is ignored.
*/
void ft_lines_stack(FtLines *t, char *text);

/* All bytes are 0 from now on. */
void ft_lines_forget_bytes(FtLines *t);

/* Add BYTES to all lines at PLACE, "chunk:line". */
void ft_lines_bytes(FtLines *t, const char *place, uint64_t bytes);

/* The lines by SORT, those first that have most. Lines without samples and
** bytes are left out. Returns their number; the caller frees *OUT.
*/
size_t ft_lines_sorted(FtLines *t, FtSort sort, FtLine **out);

/* The name of a line. It belongs to T, and is valid until a line is added. */
const char *ft_lines_name(const FtLines *t, const FtLine *l);

/* Free the memory of *T. */
void ft_lines_free(FtLines *t);

#endif
