/*
** Opening ELF files for tests; what fails ends the test.
*/

#ifndef OPEN_H
#define OPEN_H

#include <stddef.h>
#include <stdint.h>

#include "rows.h"
#include "vmcode.h"

/* Open a file. */
LsElf *open_elf(const char *path);

/* Open a file and make its table. */
LsElf *open_rows(const char *path, LsRows *rows);

/* Look for a VM in a file: as ls_vm_find. */
int open_vm(const char *path, struct ljs_vm *vm, char why[LS_WHY]);

/* All bytes of a file, to be freed. */
uint8_t *open_bytes(const char *path, size_t *n);

/* Make another file of one by a shell command that has "$from" and "$to". The
** path of that, in SCRATCH, is to be freed.
*/
char *open_changed(const char *path, const char *name, const char *command);

#endif
