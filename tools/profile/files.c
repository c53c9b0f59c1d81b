/*
** The files that a profile was read from, and their damage.
*/

#include <stdlib.h>
#include <string.h>

#include "files.h"

void lp_files_add(LpFiles *f, const char *name)
{
  f->name = lp_grow(f->name, &f->names, f->n + 1u, sizeof(char *));
  f->name[f->n++] = lp_strdup(name);
}

/* The file that is being read is damaged. Streams have no more names than
** files, but may be damaged in any number of places.
*/
void lp_files_damage(LpFiles *f, const LpDamage *d)
{
  if (f->nharm == LP_FILES_HARM) {
    f->more++;
    return;
  }
  f->harm = lp_grow(f->harm, &f->harms, f->nharm + 1u, sizeof(LpHarm));
  f->harm[f->nharm].file = f->n ? f->n - 1 : 0;
  f->harm[f->nharm++].damage = *d;
}

void lp_files_recorded(LpFiles *f, const LpRecorded *r, LpStr vm)
{
  if (r->pid)
    lp_intern(&f->recorded, r, sizeof(*r));
  if (!f->vm.n)
    lp_buf_add(&f->vm, vm.s, vm.n);
}

void lp_files_process(LpFiles *f, LpStr command, LpStr host)
{
  if (!f->command.n)
    lp_buf_add(&f->command, command.s, command.n);
  if (!f->host.n)
    lp_buf_add(&f->host, host.s, host.n);
}

void lp_files_baseline(LpFiles *f)
{
  f->nbase = f->n;
  f->memory = f->flat = f->left = 0;
  f->unread = 0;
  lp_intern_free(&f->recorded);
  lp_buf_free(&f->vm);
  lp_buf_free(&f->command);
  lp_buf_free(&f->host);
}

const char *lp_files_name(const LpFiles *f, uint32_t file)
{
  return file < f->n ? f->name[file] : NULL;
}

void lp_files_free(LpFiles *f)
{
  uint32_t i;
  for (i = 0; i < f->n; i++)
    free(f->name[i]);
  free(f->name);
  free(f->harm);
  lp_intern_free(&f->recorded);
  lp_buf_free(&f->vm);
  lp_buf_free(&f->command);
  lp_buf_free(&f->host);
  memset(f, 0, sizeof(*f));
}
