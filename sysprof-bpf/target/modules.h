/*
** ELF files that are mapped by the processes we sample. One file is one module,
** in however many processes it is.
*/

#ifndef LS_MODULES_H
#define LS_MODULES_H

#include "elf.h"
#include "maps.h"
#include "rows.h"
#include "vmcode.h"

#define LS_MODULES_MAX 4096 /* As many as the BPF program has room for. */

typedef struct LsModule {
  uint32_t id; /* From 1 on. */
  uint64_t dev, ino;
  char *path;
  uint8_t buildid[64];
  size_t nbuildid;
  LsElf *elf;         /* NULL: it could not be read. */
  LsAddrRange *range; /* Of its functions, sorted. */
  size_t nrange;
  int hasvm; /* There is a LuaJIT in it, */
  struct ljs_vm vm;
  char why[LS_WHY]; /* or something like it that we are not sure of. */
} LsModule;

typedef struct LsModules LsModules;

/* Takes the tables of the module ID: N rows by address and, if it holds a
** LuaJIT, that. They are valid only during the call. Answers 0 or -errno.
*/
typedef int LsTablesFunc(void *ctx, uint32_t id, const struct ljs_row *row,
                         size_t n, const struct ljs_vm *vm);

/* TABLES is called with CTX for each module when it is first met. NULL without
** memory.
*/
LsModules *ls_modules_open(LsTablesFunc *tables, void *ctx);
void ls_modules_close(LsModules *ms);
int ls_modules_known(const LsModules *ms, const LsMapping *map);
LsModule *ls_modules_get(LsModules *ms, pid_t pid, const LsMapping *map);
const LsModule *ls_modules_expect(LsModules *ms, const char *path);
LsModule *ls_modules_find(const LsModules *ms, uint32_t id);
int ls_modules_suspect(LsModules *ms, pid_t pid);
const LsAddrRange *ls_module_function(const LsModule *m, uint64_t addr);

#endif
