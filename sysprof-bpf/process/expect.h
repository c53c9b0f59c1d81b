/*
** Reads the files that a command is likely to map, before it runs.
*/

#ifndef LS_EXPECT_H
#define LS_EXPECT_H

#include "modules.h"

/* Make modules of the program NAME, as execvp finds it, of the libraries that
** it needs, and of those that this program has, too. What is not found is read
** when it is mapped.
*/
void ls_expect(LsModules *ms, const char *name);

/* Likewise for a command with its arguments, and for the program that it may
** execute: the first one among them, as with env, nice or taskset. Behind the
** argument LD_LIBRARY_PATH=FOLDERS, libraries are looked for in those first.
*/
void ls_expect_command(LsModules *ms, char *const *command);

#endif
