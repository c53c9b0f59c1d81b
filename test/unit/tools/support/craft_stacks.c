/*
** craft-stacks STACKS FRAMES: a CPU profile on standard output, of so many
** stacks of so many Lua frames, each with a sample. Each frame is one of 24
** lines, at random: stacks part after a few frames, and have nothing in common
** further in.
*/

#include <stdio.h>
#include <stdlib.h>

#include "craft.h"

#define STACKS_LINES 24
#define STACKS_BLOCK 200 /* Stacks. */

/* Functions 1 to 12 with two lines each, sites 2 to 25. */
static void stacks_define(Craft *c)
{
  uint64_t i;
  craft_process(c, 1, 4711, "luajit deep.lua");
  craft_thread(c, 1, 1, 4711, "luajit");
  for (i = 0; i < STACKS_LINES; i++) {
    if (i % 2 == 0)
      craft_proto(c, 1 + i / 2, 0, i, i, "@deep.lua", "f");
    craft_site(c, 2 + i, 0, 1 + i / 2, 1 + i);
  }
}

/* The statistics, with which a profile ends. */
static void stacks_end(Craft *c, uint64_t stacks)
{
  CraftBook books[] = {{"fired", stacks},
                       {"delivered", stacks},
                       {"dropped", 0},
                       {"complete", stacks},
                       {"cpu_ns", stacks * 1000000},
                       {"ns", stacks * 1000000}};
  craft_books(c, books, sizeof(books) / sizeof(books[0]));
}

int main(int argc, char **argv)
{
  uint64_t stacks, frames, i, k, *site;
  Craft c;
  if (argc != 3)
    return EXIT_FAILURE;
  stacks = strtoull(argv[1], NULL, 10);
  frames = strtoull(argv[2], NULL, 10);
  site = lp_alloc((frames + 1) * sizeof(uint64_t));
  craft_open_cpu(&c);
  craft_time(&c, 0);
  craft_meta_cpu(&c, 1000);
  stacks_define(&c);
  for (i = 0; i < stacks; i++) {
    for (k = 0; k < frames; k++)
      site[k] = 2 + craft_random(STACKS_LINES);
    craft_stack_of(&c, 0, site, frames);
    craft_sample(&c, 0, 1, 1);
    if ((i + 1) % STACKS_BLOCK && i + 1 < stacks)
      continue;
    if (i + 1 == stacks)
      stacks_end(&c, stacks);
    craft_flush(&c);
    fwrite(c.out.s, 1, c.out.n, stdout);
    c.out.n = 0;
    craft_time(&c, (i + 1) * 1000000);
  }
  craft_close(&c);
  free(site);
  return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
