/*
** craft-deep LEAVES NAME: a recording on standard output whose reports are
** large: LEAVES stacks of 4,090 lines with different innermost ones, and names
** of functions of NAME bytes.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "craft.h"

#define DEEP       4090
#define DEEP_HAS   100 /* Functions; each has many of the lines. */
#define DEEP_AGAIN 200 /* Stacks of a block, which begins with a whole one. */

/* The functions, of which all names have the same length. */
static void deep_functions(Craft *c, size_t len)
{
  char *name = lp_zalloc(len + 1, 1);
  uint64_t i;
  memset(name, 'f', len);
  for (i = 1; i <= DEEP_HAS; i++)
    craft_proto(c, i, 0, i, i, "@deep.lua", name);
  free(name);
}

/* LEAVES events, the innermost line of each is another one. Sizes differ, so
** that the order of stacks is known.
*/
static void deep_events(Craft *c, uint64_t leaves)
{
  uint64_t site[DEEP], i;
  for (i = 0; i < DEEP + leaves; i++)
    craft_site(c, i + 2, 0, 1 + i % DEEP_HAS, i + 1);
  for (i = 0; i < DEEP; i++)
    site[i] = i + 2;
  for (i = 0; i < leaves; i++) {
    uint64_t leaf = DEEP + i + 2;
    if (i % DEEP_AGAIN == 0) {
      craft_flush(c);
      craft_stack_of(c, 0, site, DEEP - 1);
    }
    craft_change(c, i % DEEP_AGAIN > 0, leaf);
    craft_alloc(c, leaf, 0x10000 + i * 0x1000, 1000 + i % 100);
  }
}

int main(int argc, char **argv)
{
  Craft c;
  if (argc != 3)
    return EXIT_FAILURE;
  craft_open(&c, 1);
  c.stack = LJM_STACK_MAX;
  craft_time(&c, 0);
  craft_meta(&c, 0);
  deep_functions(&c, strtoul(argv[2], NULL, 10));
  deep_events(&c, strtoul(argv[1], NULL, 10));
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  fwrite(c.out.s, 1, c.out.n, stdout);
  craft_close(&c);
  return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
