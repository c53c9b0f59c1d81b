/*
** Separate files with the symbols of a stripped file.
*/

#ifndef LS_DEBUGFILE_H
#define LS_DEBUGFILE_H

#include "elf.h"

/* Open the file with the symbols of E, which the caller closes: by its build-id
** in ls_symbols_debug, or by .gnu_debuglink beside the file, in .debug beside
** it and in /usr/lib/debug. They are looked for in the root directory of the
** process that E was placed in, and in that of the sampler. Only regular files
** are read that have the same build-id, or else the checksum of the link. NULL
** if there is none.
*/
LsElf *ls_debugfile_open(const LsElf *e);

/* Where a file is: in ls_symbols_debug by its build-id; else by the name in the
** link.
*/
typedef enum LsDebugHow {
  LS_DEBUG_ID,     /* Digits of the build-id. */
  LS_DEBUG_BESIDE, /* In the folder of the file that it belongs to, */
  LS_DEBUG_FOLDER, /* in .debug there, */
  LS_DEBUG_TREE    /* or in that folder below /usr/lib/debug. */
} LsDebugHow;

/* Open the regular file NAME, which is untrusted, of the file that is at PLACE
** in the directory ROOT, "" if that is the root of this process. Returns a
** descriptor, or -1 and errno.
*/
int ls_debugfile_find(const char *root, const char *place, LsDebugHow how,
                      const char *name);

/* Opens such a file: arguments and result are those of ls_debugfile_find. */
typedef int LsDebugOpener(const char *root, const char *place, LsDebugHow how,
                          const char *name);

/* Who does: ls_debugfile_find, but in a process that must not. */
extern LsDebugOpener *ls_debugfile_opener;

/* Open the symbols that E has in .gnu_debugdata, which the caller closes. They
** are besides those in .dynsym. NULL if there are none, or more than 64 MiB, or
** if this program was built without liblzma.
*/
LsElf *ls_debugfile_mini(const LsElf *e);

#endif
