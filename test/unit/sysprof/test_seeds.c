/*
** Writes seeds for the fuzz targets into the directory CORPUS: the code of the
** interpreter, and the pages of a live process that are read to name its stack.
*/

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../fuzz/fake.h"
#include "live.h"
#include "luasites.h"
#include "remote.h"
#include "suites.h"
#include "vmcheck.h"

/* A new file in the corpus of a target, or NULL if nobody asks for it. */
static FILE *seed_open(const char *target, const char *name)
{
  const char *dir = getenv("CORPUS");
  char path[1024];
  FILE *f;
  ck_assert_msg(dir != NULL, "seeds need CORPUS");
  ck_assert(mkdir(dir, 0777) == 0 || errno == EEXIST);
  snprintf(path, sizeof(path), "%s/%s", dir, target);
  ck_assert(mkdir(path, 0777) == 0 || errno == EEXIST);
  snprintf(path, sizeof(path), "%s/%s/%s", dir, target, name);
  f = fopen(path, "wb");
  ck_assert_msg(f != NULL, "%s cannot be written", path);
  return f;
}

START_TEST(code)
{
  int fd = open(LUAJIT, O_RDONLY | O_CLOEXEC);
  LsElf *e = ls_elf_open(fd);
  struct ljs_vm vm;
  FILE *f = seed_open("vmcode", "luajit");
  const uint8_t *p;
  close(fd);
  live_layout(LUAJIT, &vm);
  ck_assert_ptr_nonnull(e);
  p = ls_elf_bytes(e, vm.lo, vm.hi - vm.lo);
  ck_assert_ptr_nonnull(p);
  ck_assert_uint_eq(fwrite(p, 1, vm.hi - vm.lo, f), vm.hi - vm.lo);
  ck_assert_int_eq(fclose(f), 0);
  ls_elf_close(e);
}
END_TEST

/* -- Pages ---------------------------------------------------------------- */

static LsRemoteReader *seed_reader;
static FILE *seed_file;
static uint64_t seed_page[1024];
static unsigned seed_npage;

/* Read, and write down each page at its first time. */
static int seed_read(pid_t pid, uint64_t addr, void *buf, size_t n)
{
  uint64_t page = addr & ~(uint64_t)(LS_REMOTE_PAGE - 1);
  for (; page < addr + n; page += LS_REMOTE_PAGE) {
    uint8_t data[LS_REMOTE_PAGE];
    unsigned i;
    for (i = 0; i < seed_npage && seed_page[i] != page; i++)
      ;
    if (i < seed_npage || seed_npage == 1024 ||
        seed_reader(pid, page, data, sizeof(data)) != 0)
      continue;
    seed_page[seed_npage++] = page;
    ck_assert_uint_eq(fwrite(&page, 1, 8, seed_file), 8);
    ck_assert_uint_eq(fwrite(data, 1, sizeof(data), seed_file), sizeof(data));
  }
  return seed_reader(pid, addr, buf, n);
}

/* The header, with frames of the stack and of traces. */
static void seed_header(const Live *p, struct ljs_stack *s, LsFake *h)
{
  unsigned i;
  memset(h, 0, sizeof(*h));
  h->l = p->l;
  h->g = p->g;
  h->lo = p->vm.lo;
  h->hi = p->vm.hi;
  h->g2disp = p->vm.g2disp;
  h->vmstate = p->vm.vmstate;
  h->cur_l = p->vm.cur_l;
  h->trace = p->vm.trace;
  h->gc64 = p->vm.gc64;
  h->jit = p->vm.jit;
  while (s->nframes < LS_FAKE_FRAMES) {
    unsigned ref = p->vm.gc64 ? 8 : 4;
    uint64_t array = 0, T = 0, mcode = 0;
    i = s->nframes;
    ls_remote_read(p->pid, p->g + (uint64_t)p->vm.trace, &array, 8);
    ls_remote_read(p->pid, array + (uint64_t)i * ref, &T, ref);
    ls_remote_read(p->pid, T + p->vm.t_mcode, &mcode, 8);
    s->frame[s->nframes++] =
        (struct ljs_frame){.kind = LJS_FRAME_JIT, .addr = mcode + 10 * i};
  }
  memcpy(h->frame, s->frame, sizeof(h->frame));
}

START_TEST(memory)
{
  static struct ljs_stack s;
  const char *argv[] = {LUAJIT, SOURCE "/traces.lua", NULL};
  char why[LS_WHY];
  LsSite site[8];
  LsFake h;
  LsLua *lua;
  Live p;
  unsigned i;
  live_start(&p, argv, NULL);
  ck_assert_int_eq(live_wait(&p), 1);
  live_find(&p);
  live_walk(&p, &s);
  seed_header(&p, &s, &h);
  seed_file = seed_open("luasites", "traces");
  ck_assert_uint_eq(fwrite(&h, 1, sizeof(h), seed_file), sizeof(h));
  seed_reader = ls_remote_reader;
  ls_remote_reader = seed_read;
  lua = ls_lua_open(p.pid);
  ck_assert_int_eq(ls_vm_check(p.pid, &p.vm, p.l, p.g, why), 1);
  for (i = 0; i < s.nframes; i++)
    ck_assert_uint_ge(ls_lua_sites(lua, &p.vm, &s, i, site, 8), 1);
  ls_remote_reader = seed_reader;
  ck_assert_int_eq(fclose(seed_file), 0);
  ck_assert_uint_ge(seed_npage, 10);
  ls_lua_close(lua);
  live_end(&p);
}
END_TEST

Suite *suite_seeds(void)
{
  const TTest *tests[] = {code, memory, NULL};
  return suite_of("seeds", tests);
}
