/*
** The name that was probably meant by a mistyped one.
*/

#ifndef CL_NEAREST_H
#define CL_NEAREST_H

/* The search for one word. */
typedef struct ClNearest {
  const char *word;
  const char *best; /* The nearest name that was tried, or NULL. */
  unsigned cost;    /* Edits from the word to it. */
} ClNearest;

/* Start the search for WORD, which is not copied. */
ClNearest cl_nearest(const char *word);

/* Try a name, which is not copied. A name too far away is not taken: one edit
** for each three characters is allowed, or the word begins the name.
*/
void cl_nearest_try(ClNearest *s, const char *name);

#endif
