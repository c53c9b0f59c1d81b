/*
** What is kept of an ELF file: its unwind table, its VM, its symbols.
*/

#ifndef LS_LEARN_H
#define LS_LEARN_H

#include <stddef.h>
#include <stdint.h>

#include "elf.h"
#include "ljs.h"
#include "rows.h"
#include "vmcode.h"
#include "vmroles.h"

typedef struct LsLearned {
  LsElf *elf; /* Its segments and symbols; the file is closed. */
  uint8_t buildid[64];
  size_t nbuildid;
  LsRows rows;
  int hasvm; /* There is a LuaJIT in it, */
  struct ljs_vm vm;
  char why[LS_WHY];     /* or something like it that we are not sure of. */
  uint8_t *role;        /* Of rows.range, each an LsRole; NULL: not known. */
  int collector;        /* Those of the collector have names, or roles. */
  uint64_t rolebytes;   /* Elements of `role`. */
  char *needed;         /* Names of libraries, each with a NUL; or NULL. */
  uint64_t neededbytes; /* Of all of it. */
} LsLearned;

/* Learn all of E, which is *OUT's then. Without memory less is known. */
void ls_learn(LsElf *e, LsLearned *out);

/* Free what *L has, but not L. */
void ls_learned_free(LsLearned *l);

/* Bytes of memory of what is kept of L for names. */
uint64_t ls_learned_names(const LsLearned *l);

/* Whether anything in the code of E, from the mapping at OFFSET in the file on,
** looks like the entries of a VM.
*/
int ls_learn_suspect(const LsElf *e, uint64_t offset);

#endif
