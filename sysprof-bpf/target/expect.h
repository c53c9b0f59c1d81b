/*
** What a command is likely to map, learnt before it runs.
*/

#ifndef LS_EXPECT_H
#define LS_EXPECT_H

#include "modules.h"

/* Makes modules of the program NAME, as execvp finds it, of the libraries that
** it needs, and of those that this program has, too. What is not found takes
** its time later.
*/
void ls_expect(LsModules *ms, const char *name);

#endif
