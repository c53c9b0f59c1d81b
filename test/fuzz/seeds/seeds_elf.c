/*
** Writes seed corpora of ELF files: `seeds_elf DIR FILE...` fills DIR/elf with
** the files, DIR/proc with what is learned of them, and DIR/frames with a
** section made here. That it is read as it was meant is checked, or a fuzzer
** would look at errors only.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz_image.h"
#include "pack.h"
#include "rows.h"

/* Write one seed. */
static void seed(const char *dir, const char *kind, unsigned number,
                 const LpBuf *b)
{
  LpBuf path = {0};
  FILE *f;
  lp_buf_printf(&path, "%s/%s", dir, kind);
  if (mkdir(path.s, 0777) != 0 && errno != EEXIST)
    abort();
  lp_buf_printf(&path, "/%u", number);
  f = fopen(path.s, "w");
  if (!f || fwrite(b->s, 1, b->n, f) != b->n || fclose(f) != 0)
    abort();
  lp_buf_free(&path);
}

/* Add a word of 4 bytes. */
static void word(LpBuf *b, uint32_t v)
{
  lp_buf_add(b, &v, sizeof(v));
}

/* Fill an entry that began at AT with nops, and set its length. */
static void entry_end(LpBuf *b, size_t at)
{
  uint32_t n;
  while (b->n % 8)
    lp_buf_add(b, "", 1);
  n = (uint32_t)(b->n - at - 4);
  memcpy(b->s + at, &n, sizeof(n));
}

/* Add a CIE with an augmentation and its data. */
static size_t cie(LpBuf *b, const char *what, const char *data, size_t n)
{
  size_t at = b->n;
  char len = (char)n;
  word(b, 0);
  word(b, 0);
  lp_buf_add(b, "\x01", 1);
  lp_buf_add(b, what, strlen(what) + 1);
  lp_buf_add(b, "\x01\x78\x10", 3);
  lp_buf_add(b, &len, 1);
  lp_buf_add(b, data, n);
  lp_buf_add(b, "\x0c\x07\x08\x90\x01", 5);
  entry_end(b, at);
  return at;
}

/* Add an FDE with a program. AUG: bytes of data of its own. */
static void fde(LpBuf *b, size_t cie_at, uint32_t lo, uint32_t size, int aug,
                const char *code, size_t n)
{
  size_t at = b->n;
  char len = (char)aug;
  word(b, 0);
  word(b, (uint32_t)(at + 4 - cie_at));
  word(b, IMAGE_CODE + lo - (IMAGE_FRAME + (uint32_t)b->n));
  word(b, size);
  lp_buf_add(b, &len, 1);
  lp_buf_add(b, "\1\2\3\4\5\6\7", (size_t)aug);
  lp_buf_add(b, code, n);
  entry_end(b, at);
}

/* A section with all that is usual. */
static void section(LpBuf *b)
{
  static const char push[] = "\x41\x0e\x10\x86\x02\x43\x0d\x06\x60\x0a\x0c\x07"
                             "\x08\x41\x0b";
  static const char plt[] = "\x0e\x10\x46\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b"
                            "\x2a\x33\x24\x22";
  static const char mem[] = "\x44\x0c\x0a\x00\x49\x10\x06\x02\x76\x00\x45\x0f"
                            "\x03\x76\x78\x06\x02\x40\x0a\xc6\x0c\x0a\x00";
  size_t plain = cie(b, "zR", "\x1b", 1), signal = cie(b, "zRS", "\x1b", 1);
  size_t cxx = cie(b, "zPLR", "\x9b\1\2\3\4\x1b\x1b", 7);
  fde(b, plain, 0x1000, 0x100, 0, push, sizeof(push) - 1);
  fde(b, plain, 0x0000, 0x200, 0, plt, sizeof(plt) - 1);
  fde(b, signal, 0x2000, 0x10, 0, "", 0);
  fde(b, cxx, 0x3000, 0x100, 4, mem, sizeof(mem) - 1);
  fde(b, plain, 0x4000, 0x10, 0, "\x07\x10", 2);
  /* The same begin, overlapping, not in the code at all. */
  fde(b, plain, 0x4000, 0x20, 0, "", 0);
  fde(b, plain, IMAGE_SIZE - 8, 0x10, 0, "", 0);
  fde(b, plain, 0x10f0, 0x100, 0, "\x02\x10\x0e\x20\x83\x03", 6);
  word(b, 0);
}

/* At an offset in the code the CFA is told so. */
static int told(const LsRows *t, uint64_t at, int how, int cfa)
{
  const struct ljs_row *r = ls_rows_find(t, IMAGE_CODE + at);
  return r && r->how == how && r->cfa == cfa;
}

/* The section says what it was made to say. */
static void check(const LpBuf *b)
{
  LpBuf image = {0};
  LsElf *e;
  LsRows t;
  fuzz_image_make(&image, b->s, b->n);
  e = ls_elf_memory(image.s, image.n);
  if (!e || ls_rows_build(e, &t) != 0 || t.nrange != 6 ||
      !told(&t, 0x10, LJS_CFA_PLT, 11) || !told(&t, 0x1fff, 0, 0) ||
      !told(&t, 0x1010, LJS_CFA_BP, 16) || !told(&t, 0x10ef, LJS_CFA_BP, 16) ||
      !told(&t, 0x10f0, LJS_CFA_SP, 8) || !told(&t, 0x1100, LJS_CFA_SP, 32) ||
      t.range[1].hi != IMAGE_CODE + 0x10f0 ||
      !told(&t, 0x2000, LJS_CFA_SIGNAL, 0) ||
      !told(&t, 0x3020, LJS_CFA_BP_MEM, -8) ||
      !told(&t, 0x400f, LJS_CFA_END, 0) || !told(&t, 0x4010, 0, 0) ||
      !told(&t, IMAGE_SIZE - 1, 0, 0))
    abort();
  ls_rows_free(&t);
  ls_elf_close(e);
  lp_buf_free(&image);
}

/* A file of this system, as seed NUMBER of `proc` that begins with KIND. */
static void proc_file(const char *dir, unsigned number, char kind,
                      const char *path)
{
  char buf[4096];
  FILE *f = fopen(path, "r");
  LpBuf b = {0};
  size_t n = f ? fread(buf, 1, sizeof(buf), f) : 0;
  lp_buf_add(&b, &kind, 1);
  lp_buf_add(&b, buf, n);
  if (f)
    fclose(f);
  seed(dir, "proc", number, &b);
  lp_buf_free(&b);
}

/* What is learned of the ELF file IMAGE, likewise. */
static void proc_pack(const char *dir, unsigned number, const LpBuf *image)
{
  static LsPack pack;
  LsElf *e = ls_elf_memory(image->s, image->n);
  LpBuf b = {0};
  LsLearned l;
  size_t i;
  if (!e)
    abort();
  ls_learn(e, &l);
  ls_pack(&l, &pack);
  lp_buf_add(&b, "p", 1);
  for (i = 0; i < LS_PACK_PARTS; i++)
    if (pack.part[i].iov_len)
      lp_buf_add(&b, pack.part[i].iov_base, pack.part[i].iov_len);
  seed(dir, "proc", number, &b);
  ls_learned_free(&l);
  lp_buf_free(&b);
}

int main(int argc, char **argv)
{
  LpBuf b = {0};
  int i;
  if (argc < 2)
    return 64;
  if (mkdir(argv[1], 0777) != 0 && errno != EEXIST)
    return 1;
  section(&b);
  check(&b);
  seed(argv[1], "frames", 0, &b);
  proc_file(argv[1], 0, 'm', "/proc/self/maps");
  proc_file(argv[1], 1, 'k', "/proc/kallsyms");
  for (i = 2; i < argc; i++) {
    char buf[4096];
    size_t n;
    FILE *f = fopen(argv[i], "r");
    if (!f)
      return 1;
    b.n = 0;
    while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
      lp_buf_add(&b, buf, n);
    fclose(f);
    seed(argv[1], "elf", (unsigned)i, &b);
    proc_pack(argv[1], (unsigned)i, &b);
  }
  lp_buf_free(&b);
  return 0;
}
