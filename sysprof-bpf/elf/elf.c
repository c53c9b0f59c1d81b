/*
** Reader of ELF files for x86-64: headers, segments, sections, notes.
**
** libelf reads what is asked for with pread(), checks it against the size of
** the file and keeps it until the end. A mapping of the file would be cheaper,
** but if the file is truncated, access to it raises SIGBUS.
**
** A file with holes costs its owner nothing, so the size of a file is no bound:
** all that is read of one file is limited to LS_ELF_BUDGET.
*/

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cursor.h"
#include "elf.h"

#define ELF_PAGE      4096
#define ELF_MAX_PHDRS LS_ELF_SEGMENTS
#define ELF_MAX_SCNS  (1u << 16)  /* Sections of a file. */
#define ELF_MAX_NAMES (8u << 20)  /* Bytes of the sections' names. */
#define ELF_WINDOW    (32u << 20) /* Larger segments are read in parts. */
#define ELF_MAX_NOTES (1u << 16)  /* Bytes of notes. */

/* A segment that is loaded. Data are brought when they are asked for. */
typedef struct Segment {
  uint64_t addr, offset, filesz, memsz;
  int exec;
  int tried; /* To bring the data. */
  const uint8_t *p;
  const uint8_t **block; /* Of a large one: those that were read; or NULL. */
} Segment;

/* Blocks of a large segment, each with the begin of the next one: libelf has
** what was read in a list, so many small parts would take very long.
*/
#define ELF_BLOCK   (8ull << 20)
#define ELF_OVERLAP (1ull << 20)
#define ELF_BLOCKS  64 /* There is no budget for more. */

/* What has been read. */
typedef struct Spent {
  uint64_t bytes;
  int over; /* Something was not read, since it exceeded the budget. */
} Spent;

struct LsElf {
  Elf *elf;
  int fd;       /* Our own, or -1. */
  void *image;  /* Our own, or NULL. */
  Segment *seg; /* All PT_LOAD. */
  size_t nseg;
  size_t nphdr;   /* All program headers. */
  size_t nscn;    /* Sections, with number 0. */
  uint64_t entry; /* e_entry. */
  size_t names;   /* Section with the sections' names, or 0. */
  Spent *spent;   /* Behind a pointer, as reading changes it. */
  LsElfIndex index;
  char *root, *path; /* Where it is, or NULL. */
};

/* -- Open and close ------------------------------------------------------- */

/* Take the segments that are loaded. Returns -1 and errno. */
static int elf_segments(LsElf *e)
{
  size_t i;
  GElf_Phdr ph;
  if (elf_getphdrnum(e->elf, &e->nphdr) != 0)
    e->nphdr = 0;
  if (e->nphdr > ELF_MAX_PHDRS)
    e->nphdr = ELF_MAX_PHDRS;
  e->seg = calloc(e->nphdr + 1, sizeof(*e->seg));
  if (!e->seg)
    return -1;
  for (i = 0; i < e->nphdr; i++) {
    Segment *s = &e->seg[e->nseg];
    if (!gelf_getphdr(e->elf, (int)i, &ph) || ph.p_type != PT_LOAD)
      continue;
    /* One that wraps around is none. */
    if (ph.p_filesz > ph.p_memsz || ph.p_vaddr + ph.p_memsz < ph.p_vaddr ||
        ph.p_offset + ph.p_filesz < ph.p_offset)
      continue;
    s->addr = ph.p_vaddr;
    s->offset = ph.p_offset;
    s->filesz = ph.p_filesz;
    s->memsz = ph.p_memsz;
    s->exec = (ph.p_flags & PF_X) != 0;
    e->nseg++;
  }
  return 0;
}

/* Read N bytes at OFFSET of the file or the image, of SIZE bytes. */
static int elf_peek(const LsElf *e, size_t size, uint64_t offset, void *to,
                    size_t n)
{
  if (!e->image)
    return offset <= INT64_MAX &&
                   pread(e->fd, to, n, (off_t)offset) == (ssize_t)n
               ? 0
               : -1;
  if (offset > size || n > size - offset)
    return -1;
  memcpy(to, (const char *)e->image + offset, n);
  return 0;
}

/* Whether the headers claim so many sections or segments that libelf, which
** describes all of them at once, would need much memory.
*/
static int elf_too_many(const LsElf *e, size_t size)
{
  Elf64_Ehdr eh;
  Elf64_Shdr first;
  if (elf_peek(e, size, 0, &eh, sizeof(eh)))
    return 1;
  if (eh.e_phnum == PN_XNUM)
    return 1;
  if (!eh.e_shoff || (eh.e_shnum && eh.e_shstrndx != SHN_XINDEX))
    return 0;
  /* The number is in the first section's header. */
  return !elf_peek(e, size, eh.e_shoff, &first, sizeof(first)) &&
         first.sh_size > ELF_MAX_SCNS;
}

/* Find the sections' names, if they are not too long. */
static void elf_names(LsElf *e)
{
  GElf_Shdr sh;
  Elf_Scn *scn;
  if (elf_getshdrnum(e->elf, &e->nscn) != 0 ||
      elf_getshdrstrndx(e->elf, &e->names) != 0)
    e->nscn = e->names = 0;
  scn = e->names ? elf_getscn(e->elf, e->names) : NULL;
  if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_size > ELF_MAX_NAMES)
    e->names = 0;
}

/* Look at the headers. Returns -1 and errno. */
static int elf_start(LsElf *e)
{
  GElf_Ehdr eh;
  if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &eh) ||
      eh.e_ident[EI_CLASS] != ELFCLASS64 ||
      eh.e_ident[EI_DATA] != ELFDATA2LSB || eh.e_machine != EM_X86_64) {
    errno = ENOEXEC;
    return -1;
  }
  e->entry = eh.e_entry;
  elf_names(e);
  return elf_segments(e);
}

/* A file that was read through FD or is at IMAGE, which it gets. */
static LsElf *elf_new(int fd, void *image, size_t n)
{
  LsElf *e = calloc(1, sizeof(*e));
  int error;
  if (e && !(e->spent = calloc(1, sizeof(*e->spent)))) {
    free(e);
    e = NULL;
  }
  if (!e) {
    if (fd >= 0)
      close(fd);
    free(image);
    errno = ENOMEM;
    return NULL;
  }
  e->fd = fd;
  e->image = image;
  elf_version(EV_CURRENT);
  if (!elf_too_many(e, n))
    e->elf = image ? elf_memory(image, n) : elf_begin(fd, ELF_C_READ, NULL);
  if (elf_start(e) == 0)
    return e;
  error = errno;
  ls_elf_close(e);
  errno = error;
  return NULL;
}

LsElf *ls_elf_open(int fd)
{
  int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return own < 0 ? NULL : elf_new(own, NULL, 0);
}

LsElf *ls_elf_memory(const void *image, size_t n)
{
  void *own = malloc(n ? n : 1);
  if (!own)
    return NULL;
  if (n)
    memcpy(own, image, n);
  return elf_new(-1, own, n);
}

void ls_elf_place(LsElf *e, const char *root, const char *path)
{
  free(e->root);
  free(e->path);
  e->root = strdup(root);
  e->path = strdup(path);
}

const char *ls_elf_placed(const LsElf *e, const char **root)
{
  *root = e->root ? e->root : "";
  return e->path ? e->path : "";
}

void ls_elf_release(LsElf *e)
{
  size_t i;
  elf_end(e->elf);
  if (e->fd >= 0)
    close(e->fd);
  free(e->image);
  for (i = 0; i < e->nseg; i++) {
    e->seg[i].tried = 1;
    e->seg[i].p = NULL;
    free(e->seg[i].block);
    e->seg[i].block = NULL;
  }
  e->elf = NULL;
  e->fd = -1;
  e->image = NULL;
  e->nscn = e->nphdr = 0;
}

size_t ls_elf_segments(const LsElf *e, LsSegment out[LS_ELF_SEGMENTS])
{
  size_t i;
  for (i = 0; i < e->nseg; i++) {
    const Segment *s = &e->seg[i];
    out[i] = (LsSegment){s->addr, s->offset, s->filesz, s->memsz, s->exec != 0};
  }
  return e->nseg;
}

LsElf *ls_elf_released(const LsSegment *seg, size_t n, int over)
{
  LsElf *e = calloc(1, sizeof(*e));
  size_t i;
  if (!e)
    return NULL;
  e->fd = -1;
  e->spent = calloc(1, sizeof(*e->spent));
  e->seg = calloc(n + 1, sizeof(*e->seg));
  if (!e->spent || !e->seg) {
    ls_elf_close(e);
    return NULL;
  }
  e->spent->over = over;
  for (i = 0; i < n; i++)
    e->seg[i] = (Segment){seg[i].addr,
                          seg[i].offset,
                          seg[i].filesz,
                          seg[i].memsz,
                          seg[i].exec != 0,
                          1,
                          NULL,
                          NULL};
  e->nseg = n;
  return e;
}

void ls_elf_close(LsElf *e)
{
  if (!e)
    return;
  if (e->index.p)
    e->index.free(e->index.p);
  ls_elf_release(e);
  free(e->seg);
  free(e->spent);
  free(e->root);
  free(e->path);
  free(e);
}

int ls_elf_over(const LsElf *e)
{
  return e->spent->over;
}

LsElfIndex *ls_elf_index(LsElf *e)
{
  return &e->index;
}

/* -- Segments ------------------------------------------------------------- */

/* Take N bytes from the budget. Returns 0 if they are too many. */
static int elf_afford(const LsElf *e, uint64_t n)
{
  if (n > LS_ELF_BUDGET - e->spent->bytes) {
    e->spent->over = 1;
    return 0;
  }
  e->spent->bytes += n;
  return 1;
}

/* The bytes of the file from OFFSET on, until close; or NULL. */
static const uint8_t *elf_chunk(const LsElf *e, uint64_t offset, uint64_t n)
{
  Elf_Data *d = NULL;
  if (n && e->elf && offset <= INT64_MAX && elf_afford(e, n))
    d = elf_getdata_rawchunk(e->elf, (int64_t)offset, n, ELF_T_BYTE);
  return d && d->d_size >= n ? d->d_buf : NULL;
}

/* The segment that ADDR is loaded from, or NULL. */
static Segment *elf_segment(const LsElf *e, uint64_t addr)
{
  size_t i;
  for (i = 0; i < e->nseg; i++)
    if (addr >= e->seg[i].addr && addr - e->seg[i].addr < e->seg[i].filesz)
      return &e->seg[i];
  return NULL;
}

/* Block number I of a segment. */
static const uint8_t *elf_block(const LsElf *e, Segment *s, uint64_t i)
{
  uint64_t at = i * ELF_BLOCK, n = ELF_BLOCK + ELF_OVERLAP;
  if (!s->block)
    s->block = calloc(ELF_BLOCKS, sizeof(*s->block));
  if (!s->block)
    return NULL;
  if (n > s->filesz - at)
    n = s->filesz - at;
  if (!s->block[i])
    s->block[i] = elf_chunk(e, s->offset + at, n);
  return s->block[i];
}

/* The N bytes at ADDR of a segment that is too large to be read at once. */
static const uint8_t *elf_window(const LsElf *e, Segment *s, uint64_t addr,
                                 uint64_t n)
{
  uint64_t at = addr - s->addr, i = at / ELF_BLOCK;
  const uint8_t *p;
  if (n > ELF_OVERLAP || i >= ELF_BLOCKS)
    return elf_chunk(e, s->offset + at, n);
  p = elf_block(e, s, i);
  return p ? p + at % ELF_BLOCK : NULL;
}

const uint8_t *ls_elf_rest(const LsElf *e, uint64_t addr, size_t *n)
{
  Segment *s = elf_segment(e, addr);
  if (!s)
    return NULL;
  *n = s->filesz - (addr - s->addr);
  if (s->filesz > ELF_WINDOW) {
    if (*n > ELF_WINDOW)
      *n = ELF_WINDOW;
    return elf_window(e, s, addr, *n);
  }
  if (!s->tried) {
    s->tried = 1;
    s->p = elf_chunk(e, s->offset, s->filesz);
  }
  return s->p ? s->p + (addr - s->addr) : NULL;
}

const uint8_t *ls_elf_bytes(const LsElf *e, uint64_t addr, size_t n)
{
  Segment *s = elf_segment(e, addr);
  const uint8_t *p;
  size_t rest;
  if (!s || n > s->filesz - (addr - s->addr))
    return NULL;
  if (s->filesz > ELF_WINDOW)
    return elf_window(e, s, addr, n);
  p = ls_elf_rest(e, addr, &rest);
  return p && n <= rest ? p : NULL;
}

/* Whether a segment has the byte at OFFSET; one that begins in the middle of a
** page is mapped from the page's begin on.
*/
static int elf_maps(const Segment *s, uint64_t offset)
{
  uint64_t from = s->offset & ~(uint64_t)(ELF_PAGE - 1);
  return offset >= from && offset - from < s->filesz + (s->offset - from);
}

int ls_elf_vaddr(const LsElf *e, uint64_t offset, uint64_t *addr)
{
  const Segment *best = NULL;
  size_t i;
  for (i = 0; i < e->nseg; i++) {
    const Segment *s = &e->seg[i];
    if (elf_maps(s, offset) && (!best || (s->exec && !best->exec)))
      best = s;
  }
  if (!best)
    return -1;
  *addr = best->addr + (offset - best->offset);
  return 0;
}

int ls_elf_exec(const LsElf *e, uint64_t lo, uint64_t hi)
{
  size_t i;
  for (i = 0; i < e->nseg; i++) {
    const Segment *s = &e->seg[i];
    if (s->exec && lo >= s->addr && lo < hi && hi - s->addr <= s->memsz)
      return 1;
  }
  return 0;
}

uint64_t ls_elf_entry(const LsElf *e)
{
  return e->entry;
}

int ls_elf_phdr(const LsElf *e, uint32_t type, uint64_t *addr)
{
  GElf_Phdr ph;
  size_t i;
  for (i = 0; i < e->nphdr; i++)
    if (gelf_getphdr(e->elf, (int)i, &ph) && ph.p_type == type) {
      *addr = ph.p_vaddr;
      return 0;
    }
  return -1;
}

/* -- Sections ------------------------------------------------------------- */

int ls_elf_section(const LsElf *e, size_t i, LsSection *s)
{
  GElf_Shdr sh;
  const char *name;
  Elf_Scn *scn = i && i < e->nscn ? elf_getscn(e->elf, i) : NULL;
  if (!scn || !gelf_getshdr(scn, &sh))
    return -1;
  name = e->names ? elf_strptr(e->elf, e->names, sh.sh_name) : NULL;
  memset(s, 0, sizeof(*s));
  s->name = name ? name : "";
  s->addr = sh.sh_flags & SHF_ALLOC ? sh.sh_addr : 0;
  s->size = sh.sh_size;
  s->flags = sh.sh_flags;
  s->type = sh.sh_type;
  s->link = sh.sh_link;
  return 0;
}

int ls_elf_named(const LsElf *e, const char *name, size_t *i, LsSection *s)
{
  for (*i = 1; *i < e->nscn; ++*i)
    if (ls_elf_section(e, *i, s) == 0 && strcmp(s->name, name) == 0)
      return 0;
  return -1;
}

int ls_elf_load(const LsElf *e, size_t i, LsSection *s)
{
  Elf_Data *d;
  if (ls_elf_section(e, i, s) != 0 || s->type == SHT_NOBITS ||
      s->flags & SHF_COMPRESSED || !elf_afford(e, s->size))
    return -1;
  d = elf_rawdata(elf_getscn(e->elf, i), NULL);
  if (!d || !d->d_buf || !d->d_size)
    return -1;
  s->p = d->d_buf;
  s->n = d->d_size;
  return 0;
}

/* -- Notes ---------------------------------------------------------------- */

/* Look for the build-id among notes whose parts are aligned to ALIGN. */
static size_t notes_buildid(const uint8_t *p, size_t n, unsigned align,
                            uint8_t out[64])
{
  LsCursor b = ls_cursor(p, n);
  while (ls_cursor_left(&b) > 0) {
    uint64_t namesz = ls_cursor_u(&b, 4), descsz = ls_cursor_u(&b, 4);
    uint64_t type = ls_cursor_u(&b, 4);
    const uint8_t *name = ls_cursor_take(&b, namesz), *desc;
    ls_cursor_take(&b, -(uint64_t)(b.p - p) & (align - 1));
    desc = ls_cursor_take(&b, descsz);
    if (b.bad)
      break;
    if (type == NT_GNU_BUILD_ID && namesz == 4 && descsz && descsz <= 64 &&
        memcmp(name, "GNU", 4) == 0) {
      memcpy(out, desc, descsz);
      return descsz;
    }
    ls_cursor_take(&b, -(uint64_t)(b.p - p) & (align - 1));
  }
  return 0;
}

size_t ls_elf_buildid(const LsElf *e, uint8_t out[64])
{
  GElf_Phdr ph;
  LsSection s;
  size_t i, n;
  for (i = 0; i < e->nphdr; i++) {
    const uint8_t *p;
    if (!gelf_getphdr(e->elf, (int)i, &ph) || ph.p_type != PT_NOTE ||
        ph.p_filesz > ELF_MAX_NOTES)
      continue;
    p = elf_chunk(e, ph.p_offset, ph.p_filesz);
    n = p ? notes_buildid(p, ph.p_filesz, ph.p_align == 8 ? 8 : 4, out) : 0;
    if (n)
      return n;
  }
  if (ls_elf_named(e, ".note.gnu.build-id", &i, &s) == 0 &&
      s.size <= ELF_MAX_NOTES && ls_elf_load(e, i, &s) == 0)
    return notes_buildid(s.p, s.n, 4, out);
  return 0;
}
