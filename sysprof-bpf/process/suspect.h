/*
** Which processes might have a VM, by the machine code of their files.
*/

#ifndef LS_SUSPECT_H
#define LS_SUSPECT_H

#include <sys/types.h>

#include "hash.h"
#include "parser.h"

/* Files that were looked at. One of zeros is empty. */
typedef struct LsSuspects {
  LsHash files;
  LsParser *parser; /* What looks at them; NULL: this process. */
} LsSuspects;

/* Whether PID may have a VM. Each file is looked at once, and is no module by
** that. Returns 0 if PID cannot be read, too.
*/
int ls_suspect(LsSuspects *s, pid_t pid);

/* Free the memory of *S, but not S. */
void ls_suspects_free(LsSuspects *s);

#endif
