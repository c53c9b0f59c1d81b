/*
** A wrong layout does not pass: each number of the one that fits, changed, and
** all the others that are known. Runs with whichever LuaJIT the loader finds.
**
**   test-module-layout NAME     the layout that must fit
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module/check.h"
#include "module/core.h"

#define _(core) extern const MPCore core;
MP_CORES
#undef _

static const MPCore *const cores[] = {
#define _(core) &core,
    MP_CORES
#undef _
};

static unsigned checks, failures;

static void failed(const MPLayout *lay, int entry, int delta)
{
  failures++;
  printf("FAILED: %s fits with %s changed by %d\n", lay->name,
         mp_check_name(entry), delta);
}

/* What is right is found to be right each time, whatever is random in a VM. */
static void fits_always(const MPLayout *lay)
{
  int i;
  for (i = 0; i < 300; i++) {
    int bad = mp_check_library(lay);
    checks++;
    if (bad != MP_CHECK_FITS) {
      printf("FAILED: %s: %s\n", lay->name, mp_check_name(bad));
      failures++;
    }
  }
}

/* Changes every number of the layout, one at a time. */
static void change_one(const MPLayout *lay)
{
  static const int deltas[] = {1, -1, 2, -2, 4, -4, 8, -8, 16, -24, 64, 1024};
  size_t i;
  int entry;
  for (entry = 0; entry < MP_LAYOUT_MAX; entry++)
    for (i = 0; i < sizeof(deltas) / sizeof(deltas[0]); i++) {
      MPLayout changed = *lay;
      changed.n[entry] += deltas[i];
      checks++;
      if (mp_check_library(&changed) == MP_CHECK_FITS)
        failed(lay, entry, deltas[i]);
    }
}

/* Changes some at random: none of it may pass, or crash. */
static void change_many(const MPLayout *lay, unsigned seed, int times)
{
  srand(seed);
  while (times-- > 0) {
    MPLayout changed = *lay;
    int n = 1 + rand() % 4;
    int entry = 0;
    while (n-- > 0) {
      entry = rand() % MP_LAYOUT_MAX;
      changed.n[entry] += 1 + rand() % (1 << rand() % 16);
    }
    checks++;
    if (mp_check_library(&changed) == MP_CHECK_FITS)
      failed(lay, entry, 0);
  }
}

int main(int argc, char **argv)
{
  const MPLayout *right = NULL;
  size_t i;
  for (i = 0; i < sizeof(cores) / sizeof(cores[0]); i++) {
    const MPLayout *lay = cores[i]->layout;
    int bad = mp_check_library(lay),
        want = argc > 1 && !strcmp(lay->name, argv[1]);
    checks++;
    if ((bad == MP_CHECK_FITS) != want) {
      printf("FAILED: %s: %s\n", lay->name, mp_check_name(bad));
      failures++;
    }
    if (bad == MP_CHECK_FITS)
      right = lay;
  }
  if (right != NULL) {
    fits_always(right);
    change_one(right);
    change_many(right, 1, 1000);
  }
  printf("%u checks, %u failures\n", checks, failures);
  return failures != 0;
}
