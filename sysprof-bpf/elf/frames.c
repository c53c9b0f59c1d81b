/*
** Reader of .eh_frame and .debug_frame: CIEs and FDEs.
**
** One pass, in the order of the file. The CIE of an FDE is looked up by its
** offset among those before it: in .eh_frame it cannot be elsewhere, and in
** .debug_frame no tool puts it elsewhere.
*/

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "frames.h"

/* As in <dwarf.h>: how a pointer is encoded. */
enum {
  DW_EH_PE_absptr = 0x00,
  DW_EH_PE_uleb128,
  DW_EH_PE_udata2,
  DW_EH_PE_udata4,
  DW_EH_PE_udata8,
  DW_EH_PE_sleb128 = 0x09,
  DW_EH_PE_sdata2,
  DW_EH_PE_sdata4,
  DW_EH_PE_sdata8,
  PE_FORMAT_MASK = 0x0f,
  DW_EH_PE_pcrel = 0x10,
  DW_EH_PE_datarel = 0x30,
  DW_EH_PE_aligned = 0x50,
  PE_BASE_MASK = 0x70,
  DW_EH_PE_indirect = 0x80
};

/* The section that is read. */
typedef struct Reader {
  LsFrames *out;
  const LsElf *elf;
  const uint8_t *from; /* First byte of the section. */
  uint64_t addr;       /* Where that is loaded. */
  int eh;              /* It is .eh_frame. */
  int ends;            /* Zeros end it: its size is not known. */
} Reader;

/* -- Pointers ------------------------------------------------------------- */

/* The number that an encoded pointer has. */
static uint64_t pointer_number(LsCursor *b, unsigned format)
{
  switch (format) {
  case DW_EH_PE_absptr:
  case DW_EH_PE_udata8:
  case DW_EH_PE_sdata8:
    return ls_cursor_u(b, 8);
  case DW_EH_PE_udata4:
    return ls_cursor_u(b, 4);
  case DW_EH_PE_udata2:
    return ls_cursor_u(b, 2);
  case DW_EH_PE_sdata4:
    return (uint64_t)ls_cursor_s(b, 4);
  case DW_EH_PE_sdata2:
    return (uint64_t)ls_cursor_s(b, 2);
  case DW_EH_PE_uleb128:
    return ls_cursor_uleb(b);
  case DW_EH_PE_sleb128:
    return (uint64_t)ls_cursor_sleb(b);
  default:
    ls_cursor_spoil(b);
    return 0;
  }
}

/* A pointer that is loaded at HERE; DW_EH_PE_datarel is relative to DATA. */
static uint64_t pointer(LsCursor *b, unsigned encoding, uint64_t here,
                        uint64_t data)
{
  uint64_t v = pointer_number(b, encoding & PE_FORMAT_MASK);
  switch (encoding & (PE_BASE_MASK | DW_EH_PE_indirect)) {
  case 0:
    return v;
  case DW_EH_PE_pcrel:
    return here + v;
  case DW_EH_PE_datarel:
    return data + v;
  default:
    ls_cursor_spoil(b);
    return 0;
  }
}

/* Skip the pointer to a personality routine, which may be indirect. */
static void pointer_skip(LsCursor *b, unsigned encoding, uint64_t here)
{
  if (encoding == DW_EH_PE_aligned) {
    ls_cursor_take(b, -here & 7);
    ls_cursor_take(b, 8);
  } else {
    pointer_number(b, encoding & PE_FORMAT_MASK);
  }
}

/* -- CIEs ----------------------------------------------------------------- */

/* What an augmentation with a length says: "zPLR", "zRS", ... */
static void cie_augmentation(const Reader *r, LsCie *cie, LsCursor *b,
                             const char *what)
{
  uint64_t n = ls_cursor_uleb(b);
  const uint8_t *p = ls_cursor_take(b, n);
  LsCursor a = ls_cursor(p ? p : b->end, p ? n : 0);
  cie->augmented = 1;
  for (what++; *what; what++) {
    if (*what == 'R') {
      cie->encoding = (uint8_t)ls_cursor_u(&a, 1);
    } else if (*what == 'P') {
      unsigned encoding = (unsigned)ls_cursor_u(&a, 1);
      pointer_skip(&a, encoding, r->addr + (uint64_t)(a.p - r->from));
    } else if (*what == 'L') {
      ls_cursor_u(&a, 1);
    } else if (*what == 'S') {
      cie->signal = 1;
    } else {
      cie->unsupported = 1; /* The rest of A cannot be parsed. */
      break;
    }
  }
  cie->unsupported |= a.bad != 0;
}

/* Read a CIE that begins at AT, with its id behind it. One that is not
** understood is kept, too: its FDEs get unknown rows.
*/
static void cie_read(const Reader *r, LsCie *cie, LsCursor b)
{
  uint64_t version = ls_cursor_u(&b, 1), ra;
  const char *what = ls_cursor_str(&b);
  if (!what || (version != 1 && version != 3 && (r->eh || version != 4))) {
    cie->unsupported = 1;
    return;
  }
  if (version == 4 && ls_cursor_u(&b, 2) != 8)
    cie->unsupported = 1; /* Addresses of 8 bytes, no segments. */
  if (strcmp(what, "eh") == 0)
    ls_cursor_take(&b, 8);
  cie->codealign = ls_cursor_uleb(&b);
  cie->dataalign = ls_cursor_sleb(&b);
  ra = version == 1 ? ls_cursor_u(&b, 1) : ls_cursor_uleb(&b);
  if (*what == 'z')
    cie_augmentation(r, cie, &b, what);
  else if (strcmp(what, "S") == 0)
    cie->signal = 1; /* In .debug_frame it has no data. */
  else if (*what && strcmp(what, "eh") != 0)
    cie->unsupported = 1;
  if (b.bad || ra != 16)
    cie->unsupported = 1;
  ls_cfi_cie(cie, b);
}

/* Room for one more of N elements of SIZE bytes. Returns NULL without memory.
 */
static void *frames_room(void *p, size_t n, size_t *cap, size_t size)
{
  size_t want = *cap ? *cap + *cap / 2 : 64;
  void *q;
  if (n < *cap)
    return p;
  q = reallocarray(p, want, size);
  if (q)
    *cap = want;
  return q;
}

/* Add a CIE. Returns -1 without memory. */
static int cie_add(const Reader *r, uint64_t at, LsCursor b)
{
  LsFrames *f = r->out;
  LsCie *p = frames_room(f->cie, f->ncie, &f->cap_cie, sizeof(*p));
  if (!p)
    return -1;
  f->cie = p;
  p += f->ncie++;
  memset(p, 0, sizeof(*p));
  p->at = at;
  cie_read(r, p, b);
  return 0;
}

/* The number of the CIE that begins at AT, or SIZE_MAX. */
static size_t cie_find(const LsFrames *f, uint64_t at)
{
  size_t lo = 0, hi = f->ncie;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (f->cie[mid].at < at)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < f->ncie && f->cie[lo].at == at ? lo : SIZE_MAX;
}

/* -- FDEs ----------------------------------------------------------------- */

/* Add the FDE in B if its range is executable. Returns -1 without memory. */
static int fde_add(const Reader *r, size_t number, LsCursor b)
{
  LsFrames *f = r->out;
  const LsCie *cie = &f->cie[number];
  uint64_t here = r->addr + (uint64_t)(b.p - r->from);
  uint64_t lo = pointer(&b, cie->encoding, here, 0);
  uint64_t size = pointer_number(&b, cie->encoding & PE_FORMAT_MASK);
  LsFde *p;
  if (cie->augmented)
    ls_cursor_take(&b, ls_cursor_uleb(&b));
  if (b.bad || !size || lo + size < lo || !ls_elf_exec(r->elf, lo, lo + size))
    return 0; /* As of functions that a linker left out. */
  p = frames_room(f->fde, f->nfde, &f->cap_fde, sizeof(*p));
  if (!p)
    return -1;
  f->fde = p;
  p += f->nfde++;
  p->lo = lo;
  p->hi = lo + size;
  p->code = b.p;
  p->n = (uint32_t)ls_cursor_left(&b);
  p->cie = (uint32_t)number;
  return 0;
}

/* -- Sections ------------------------------------------------------------- */

/* The length at the beginning of an entry. *WIDE: it has 64 bits. */
static uint64_t entry_length(LsCursor *b, int *wide)
{
  uint64_t n = ls_cursor_u(b, 4);
  *wide = n == UINT32_MAX;
  return *wide ? ls_cursor_u(b, 8) : n;
}

/* Read the entry that begins at AT and goes on with B. Returns -1 without
** memory.
*/
static int entry_read(const Reader *r, uint64_t at, LsCursor b, int wide)
{
  unsigned width = wide && !r->eh ? 8 : 4;
  uint64_t here = (uint64_t)(b.p - r->from), id = ls_cursor_u(&b, width);
  uint64_t none = r->eh ? 0 : width == 8 ? UINT64_MAX : UINT32_MAX;
  size_t cie;
  if (b.bad)
    return 0;
  if (id == none)
    return cie_add(r, at, b);
  cie = cie_find(r->out, r->eh ? here - id : id);
  return cie == SIZE_MAX ? 0 : fde_add(r, cie, b);
}

/* Read a section. Returns -1 without memory. */
static int section_read(const Reader *r, size_t n)
{
  LsCursor b = ls_cursor(r->from, n);
  while (ls_cursor_left(&b)) {
    uint64_t at = (uint64_t)(b.p - r->from);
    int wide;
    uint64_t length = entry_length(&b, &wide);
    const uint8_t *p = ls_cursor_take(&b, length);
    if (!p || (!length && r->ends))
      break;
    if (length && entry_read(r, at, ls_cursor(p, length), wide) != 0)
      return -1;
  }
  return 0;
}

/* Where .eh_frame is, by the table that the dynamic linker uses: also without
** sections. Returns -1 if that has no address of it.
*/
static int eh_by_table(const LsElf *e, Reader *r, size_t *n)
{
  uint64_t table, addr;
  size_t rest;
  const uint8_t *p;
  LsCursor b;
  unsigned encoding;
  if (ls_elf_phdr(e, PT_GNU_EH_FRAME, &table) != 0 ||
      !(p = ls_elf_rest(e, table, &rest)))
    return -1;
  b = ls_cursor(p, rest);
  if (ls_cursor_u(&b, 1) != 1)
    return -1;
  encoding = (unsigned)ls_cursor_u(&b, 1);
  ls_cursor_take(&b, 2);
  addr = pointer(&b, encoding, table + 4, table);
  if (b.bad || !(p = ls_elf_rest(e, addr, n)))
    return -1;
  r->from = p;
  r->addr = addr;
  r->ends = 1;
  return 0;
}

/* Where a section of a name is. Returns -1 if there is none with data. */
static int section_by_name(const LsElf *e, const char *name, Reader *r,
                           size_t *n)
{
  LsSection s;
  size_t i;
  if (ls_elf_named(e, name, &i, &s) != 0 || ls_elf_load(e, i, &s) != 0)
    return -1;
  r->from = s.p;
  r->addr = s.addr;
  *n = s.n;
  return 0;
}

int ls_frames_read(const LsElf *e, LsFrames *f)
{
  Reader r = {.out = f, .elf = e, .eh = 1};
  size_t n;
  memset(f, 0, sizeof(*f));
  if (section_by_name(e, ".eh_frame", &r, &n) == 0 ||
      eh_by_table(e, &r, &n) == 0) {
    if (section_read(&r, n) != 0)
      goto fail;
  }
  r.eh = r.ends = 0;
  if (!f->nfde && section_by_name(e, ".debug_frame", &r, &n) == 0) {
    f->ncie = 0;
    if (section_read(&r, n) != 0)
      goto fail;
  }
  return 0;
fail:
  ls_frames_free(f);
  errno = ENOMEM;
  return -1;
}

void ls_frames_free(LsFrames *f)
{
  free(f->cie);
  free(f->fde);
  memset(f, 0, sizeof(*f));
}
