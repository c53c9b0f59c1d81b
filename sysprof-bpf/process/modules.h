/*
** ELF files that are mapped by the processes we sample. One file is one module,
** in however many processes it is.
**
** A file is what it was when it was read: one that has changed since is another
** module. It is read once, and closed; what is kept of it is freed when no
** process has mapped it for a while.
*/

#ifndef LS_MODULES_H
#define LS_MODULES_H

#include "budget.h"
#include "elf.h"
#include "ljs.h"
#include "maps.h"
#include "parser.h"
#include "rows.h"

#define LS_MODULES_MAX LJS_MODULES /* At a time, with number 0. */

/* The identity of a file. */
typedef struct LsFileKey {
  uint64_t dev, ino;
  uint64_t size;    /* In bytes. */
  uint64_t changed; /* Its change time, in nanoseconds. */
} LsFileKey;

typedef struct LsModule {
  uint32_t id;   /* From 1 on, for ever. */
  uint32_t slot; /* Its number in the BPF program, while it is kept; or 0. */
  LsFileKey key;
  char *path;
  uint8_t buildid[64];
  size_t nbuildid;
  LsElf *elf;         /* Its segments and symbols; NULL: not kept, or no ELF. */
  int noelf;          /* It could not be read. */
  LsAddrRange *range; /* Of its functions, sorted. */
  size_t nrange;
  int hasvm;      /* There is a LuaJIT in it, */
  int distrusted; /* which is not what its code says; */
  struct ljs_vm vm;
  char why[LS_WHY];    /* or something like it that we are not sure of. */
  uint8_t *role;       /* Of its functions, if it has a VM; NULL: not known. */
  int collector;       /* Those of the collector have names, or roles. */
  char *needed;        /* Names of libraries, each with a NUL; or NULL. */
  uint64_t nneeded;    /* Bytes of them. */
  const char *refused; /* What of it was not kept, or NULL. */
  int owned;           /* An account is charged for it: */
  LsOwner owner;
  LsCost cost;
  unsigned idle; /* Turns since it was mapped last. */
} LsModule;

typedef struct LsModules LsModules;

/* Takes the tables of the module in SLOT: N rows by address and, if it holds a
** LuaJIT, that. They are valid only during the call. Returns 0 on success; else
** the module is taken for unreadable.
*/
typedef int LsTablesFunc(void *ctx, uint32_t slot, const struct ljs_row *row,
                         size_t n, const struct ljs_vm *vm);

/* Takes the slot of a module whose tables are not needed any more. */
typedef void LsDropFunc(void *ctx, uint32_t slot);

/* An empty set of modules, which the caller closes. TABLES is called with CTX
** for each new module, and DROP, unless it is NULL, when its tables are not
** needed any more. PARSER, which must live as long, reads their files; if it is
** NULL, this process does. NULL without memory.
*/
LsModules *ls_modules_open(LsTablesFunc *tables, LsDropFunc *drop, void *ctx,
                           LsParser *parser);

/* Free all modules with their ELF files. MS may be NULL. */
void ls_modules_close(LsModules *ms);

/* The module of a mapping of OWNER, read if it is new and READ is set. NULL if
** it has none, or without memory, or with READ if it was refused: *WHY says
** then what there is too much of, and is NULL otherwise. Without READ, *WHY is
** "" if the file would have to be read. The module belongs to MS, as all
** modules below.
*/
LsModule *ls_modules_get(LsModules *ms, const LsOwner *owner,
                         const LsMapping *map, int read, const char **why);

/* Read a file that is likely to be mapped soon, to save the time then. NULL if
** it is known already, or no ELF file.
*/
const LsModule *ls_modules_expect(LsModules *ms, const char *path);

/* The module with number ID, or NULL. It may not be kept any more. */
LsModule *ls_modules_find(const LsModules *ms, uint32_t id);

/* The module in SLOT, as mappings and stacks have it; or NULL. */
LsModule *ls_modules_slot(const LsModules *ms, uint32_t slot);

/* A turn begins: afterwards ls_modules_use is called for each module that is
** mapped, and then ls_modules_sweep.
*/
void ls_modules_turn(LsModules *ms);

/* The module in SLOT is mapped. */
void ls_modules_use(LsModules *ms, uint32_t slot);

/* Free what is kept of modules that no process has mapped for some turns;
** sooner if there is little room left.
*/
void ls_modules_sweep(LsModules *ms);

/* How many modules are kept. */
uint32_t ls_modules_kept(const LsModules *ms);

/* Whether PID may have a VM, by the machine code of its files, each of which is
** looked at once. Makes no modules. Returns 0 if PID cannot be read, too.
*/
int ls_modules_suspect(LsModules *ms, pid_t pid);

/* The function that has ADDR, an address of the ELF file, by its unwind data;
** or NULL. It belongs to M.
*/
const LsAddrRange *ls_module_function(const LsModule *m, uint64_t addr);

/* The role of the function that has ADDR, an address of the ELF file, if it is
** the VM's; LS_ROLE_NONE if that is not known.
*/
LsRole ls_module_role(const LsModule *m, uint64_t addr);

/* Whether the functions of the collector in a VM's module can be distinguished
** from others, by symbols or by roles.
*/
int ls_module_collector(const LsModule *m);

#endif
