/*
** Atomic replacement of a file: readers see the old file or the new one, whole.
*/

#ifndef LP_REPLACE_H
#define LP_REPLACE_H

#include "mem.h"

typedef struct LpReplace {
  LpBuf name; /* Of the file. */
  LpBuf temp; /* Of the new one, beside it. */
  int fd;     /* Where the new one is written, or -1. */
} LpReplace;

/* Create a temporary file next to NAME, which is copied. Returns its
** descriptor, or -1 with errno: EEXIST if NAME exists and is not a regular
** file.
*/
int lp_replace_open(LpReplace *r, const char *name);

/* Close the temporary file. If WHOLE, rename it to the file's name, else remove
** it. Returns 0 or an errno.
*/
int lp_replace_close(LpReplace *r, int whole);

#endif
