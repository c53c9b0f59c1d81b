/*
** Where the page and the recordings of a run go.
*/

#ifndef FT_PLACE_H
#define FT_PLACE_H

#include "mem.h"

typedef struct FtPlace {
  LpBuf page;    /* As it is to be named; */
  LpBuf folder;  /* of the recordings: as it is shown, */
  LpBuf whole;   /* and from the root. */
  int shared;    /* Others may write to it. */
  int elsewhere; /* It is not beside the page. */
} FtPlace;

/* Choose names and make the folder, in which there is nothing yet. PAGE is what
** the user wants, or NULL: it is named after COMMAND then, and no page of that
** name exists. SHARED: processes of other users write to it. Returns 0, or -1
** with a message.
*/
int ft_place_make(FtPlace *p, const char *page, char **command, int shared);

/* Names of all recordings in FOLDER, in order, to *NAME, and how many there
** are. The caller frees both the names and the array.
*/
size_t ft_place_list(const char *folder, char ***name);

/* Remove the folder if nothing is in it. */
void ft_place_drop(const FtPlace *p);

/* Bytes of all files in it, now. */
uint64_t ft_place_bytes(const FtPlace *p);

#endif
