/*
** The files that a profile was read from, and their damage.
*/

#ifndef LP_FILES_H
#define LP_FILES_H

#include "mem.h"
#include "record.h"

#define LP_FILES_HARM 100 /* So many places of damage are kept. */

typedef struct LpHarm {
  uint32_t file;
  LpDamage damage;
} LpHarm;

typedef struct LpFiles {
  char **name; /* As the command line has them. */
  size_t names;
  uint32_t n;
  uint32_t nbase; /* The first ones, of what the rest is compared with. */
  LpHarm *harm;
  size_t harms;
  uint32_t nharm;
  uint64_t more; /* Places of damage that are not kept. */
} LpFiles;

/* What is read from now on belongs to the file NAME, which is copied. */
void lp_files_add(LpFiles *f, const char *name);

/* Record damage of the current file. After LP_FILES_HARM places they are only
** counted.
*/
void lp_files_damage(LpFiles *f, const LpDamage *d);

/* The name of a file, or NULL. It belongs to F. */
const char *lp_files_name(const LpFiles *f, uint32_t file);

/* Free the memory. */
void lp_files_free(LpFiles *f);

#endif
