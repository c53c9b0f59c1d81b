/*
** The user as whom a command runs, where ljprof needs root to sample it.
*/

#ifndef FT_USER_H
#define FT_USER_H

#include <sys/types.h>

#include "place.h"

typedef struct FtUser {
  const char *name; /* NULL: as whom we run. */
  const char *home;
  uid_t uid;
  gid_t gid;
} FtUser;

/* Look NAME up. Ends the program if there is no such user, or we are
** not root.
*/
void ft_user_find(FtUser *u, const char *name);

/* Do what FT_PLACE_MAKE does as this user. */
int ft_user_place(const FtUser *u, FtPlace *p, const char *page, char **command,
                  int shared);

/* Become this user for good. Ends the program if that cannot be. */
void ft_user_become(const FtUser *u);

/* Give the user the CPU profile, which belongs to root. */
void ft_user_give(const FtUser *u, const FtPlace *p);

#endif
