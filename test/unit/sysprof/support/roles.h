/*
** Compares the roles of functions in a stripped file with their names.
*/

#ifndef ROLES_H
#define ROLES_H

#include "vmroles.h"

/* Bytes of functions, by the role that their names say. A name that says none
** of these has the role LS_ROLE_OTHER.
*/
typedef struct RolesScore {
  uint64_t bytes[LS_ROLES]; /* All, */
  uint64_t right[LS_ROLES]; /* found to have that role, */
  uint64_t wrong[LS_ROLES]; /* found to have another one than "VM, other". */
  char example[64];         /* The largest one that is wrong. */
} RolesScore;

/* The role that a function's name says. */
LsRole roles_of_name(const char *name);

/* Compare the file at PATH, which has symbols, with a stripped copy of it that
** is made beside the tests.
*/
void roles_score(const char *path, RolesScore *s);

#endif
