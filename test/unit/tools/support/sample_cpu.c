/*
** A CPU profile that has a bit of everything, in three blocks.
*/

#include "ljm_format.h"
#include "sample.h"

/* End a block. */
static void cpu_flush(Sample *s, int i)
{
  s->first[i] = s->c.events;
  s->at[i] = s->c.out.n;
  craft_flush(&s->c);
  s->first[i + 1] = s->c.events;
  s->at[i + 1] = s->c.out.n;
}

/* Functions 1 to 8, sites 2 to 11. */
static void cpu_define(Craft *c)
{
  craft_process(c, 1, 4711, "luajit app.lua");
  craft_thread(c, 1, 1, 4711, "luajit");
  craft_thread(c, 2, 1, 4712, "worker");
  craft_module(c, 1, "\x12\x34\xab", "/usr/lib/libc.so.6");
  craft_module(c, 2, "", "/usr/lib/lua/lpeg.so");
  craft_proto(c, 1, 0, 1, 0, "@app.lua", "");
  craft_proto(c, 2, 0, 2, 10, "@app.lua", "f");
  craft_proto(c, 3, 0, 0, 20, "=app", "g;h");
  craft_native(c, 4, 0, 1, 0x9a0, "malloc");
  craft_native(c, 5, LJM_NATIVE_NOSYMBOL, 2, 0x4d0, "");
  craft_native(c, 6, LJM_NATIVE_KERNEL, 0, 0, "do_syscall_64");
  craft_named(c, 7, LJM_CFUNC_BUILTIN, "string.rep");
  craft_named(c, 8, LJM_CFUNC_MARK, "(truncated: no row)");
  craft_site(c, 2, 0, 1, 3);
  craft_site(c, 3, 0, 2, 14);
  craft_site(c, 4, LJM_SITE_TRACE | LJM_SITE_APPROX, 2, 15);
  craft_site(c, 5, LJM_SITE_TRACE | LJM_SITE_APPROX | LJM_SITE_UNSURE, 3, 26);
  craft_site(c, 6, 0, 4, 0);
  craft_site(c, 7, 0, 5, 0);
  craft_site(c, 8, 0, 6, 0);
  craft_site(c, 9, 0, 7, 0);
  craft_site(c, 10, 0, 8, 0);
  craft_site(c, 11, 0, 2, 0);
}

void sample_cpu(Sample *s)
{
  static const CraftBook books[] = {
      {"fired", 103},         {"delivered", 100},      {"dropped", 3},
      {"dropped_full", 2},    {"dropped_late", 1},     {"complete", 95},
      {"truncated_norow", 3}, {"truncated_native", 2}, {"cpu_ns", 1050000000},
      {"ns", 3000000000}};
  Craft *c = &s->c;
  craft_open_cpu(c);
  craft_time(c, 0);
  craft_meta_cpu(c, 100);
  craft_time(c, 1000000000);
  cpu_define(c);
  craft_change(c, 0, 2, 3);
  craft_sample(c, 0, 1, 40); /* main f */
  craft_change(c, 0, 9);
  craft_sample(c, 0, 1, 10); /* main f string.rep */
  craft_change(c, 1, 6, 8);
  craft_sample(c, 0, 1, 5); /* main f malloc do_syscall_64 */
  craft_change(c, 2, 4, 3, 4);
  craft_sample(c, 0, 2, 20); /* main f f f f */
  cpu_flush(s, 0);
  craft_time(c, 2000000000);
  craft_change(c, 0, 10, 3, 6);
  craft_sample(c, LJM_SAMPLE_CUT, 1, 3); /* (truncated) f malloc */
  craft_stack(c, LJM_STACK_CUT, 5);
  craft_sample(c, LJM_SAMPLE_CUT, 1, 2); /* (cut) g */
  craft_stack(c, 0, 2, 5, 7);
  craft_sample(c, 0, 2, 15); /* main g 0x4d0 */
  craft_change(c, 3);
  craft_sample(c, 0, 0, 1); /* Nobody knows. */
  cpu_flush(s, 1);
  craft_time(c, 3000000000);
  craft_change(c, 0, 2, 11);
  craft_sample(c, 0, 1, 4); /* main f */
  craft_books(c, books, sizeof(books) / sizeof(books[0]));
  cpu_flush(s, 2);
}
