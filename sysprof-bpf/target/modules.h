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
** LuaJIT, that. They are valid only during the call. Returns 0 on success; else
** the module is taken for unreadable.
*/
typedef int LsTablesFunc(void *ctx, uint32_t id, const struct ljs_row *row,
                         size_t n, const struct ljs_vm *vm);

/* An empty set of modules, which the caller closes. TABLES is called with CTX
** for each new module. NULL without memory.
*/
LsModules *ls_modules_open(LsTablesFunc *tables, void *ctx);

/* Free all modules with their ELF files. MS may be NULL. */
void ls_modules_close(LsModules *ms);

/* Whether ls_modules_get takes no time, as the file is known or not wanted. */
int ls_modules_known(const LsModules *ms, const LsMapping *map);

/* The module of a mapping of PID, read if it is new. NULL if it has none, or
** without memory. It belongs to MS, as all modules below.
*/
LsModule *ls_modules_get(LsModules *ms, pid_t pid, const LsMapping *map);

/* Read a file that is likely to be mapped soon, to save the time then. NULL if
** it is known already, or no ELF file.
*/
const LsModule *ls_modules_expect(LsModules *ms, const char *path);

/* The module with number ID, or NULL. */
LsModule *ls_modules_find(const LsModules *ms, uint32_t id);

/* Whether PID may have a VM, by the machine code of its files, each of which is
** looked at once. Makes no modules. Returns 0 if PID cannot be read, too.
*/
int ls_modules_suspect(LsModules *ms, pid_t pid);

/* The function that has ADDR, an address of the ELF file, by its unwind data;
** or NULL. It belongs to M.
*/
const LsAddrRange *ls_module_function(const LsModule *m, uint64_t addr);

#endif
