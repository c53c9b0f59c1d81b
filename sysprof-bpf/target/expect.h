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

#endif
