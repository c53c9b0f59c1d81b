/*
** Reads what readelf prints of call frame information: tables of rows, and for
** a CFA that they show as "exp" the expression, from the list of instructions.
*/

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readelf.h"

#define RE_EXP 100 /* A CFA that is an expression, not yet known. */

/* A CIE: what a function without rows of its own begins with. */
typedef struct Cie {
  uint64_t at;
  int signal;
  struct ljs_row row;
} Cie;

/* Where we are in the output. */
typedef struct Parser {
  ReTable *t;
  size_t cap_fn, cap_row;
  Cie *cie;
  size_t ncie, cap_cie;
  int bx, bp, sp, ra; /* Columns, or -1. */
  int infde;          /* The last entry is a function, not a CIE. */
  const Cie *now;     /* The function's. */
} Parser;

/* Room for one more. */
static void *more(void *p, size_t n, size_t *cap, size_t size)
{
  if (n < *cap)
    return p;
  *cap = *cap * 2 + 64;
  p = reallocarray(p, *cap, size);
  ck_assert_ptr_nonnull(p);
  return p;
}

/* Run readelf on a file. */
static FILE *readelf(const char *what, const char *path)
{
  char cmd[4096];
  FILE *f;
  snprintf(cmd, sizeof(cmd),
           "LC_ALL=C readelf --wide -wN --debug-dump=%s '%s' 2>/dev/null", what,
           path);
  f = popen(cmd, "r");
  ck_assert_ptr_nonnull(f);
  return f;
}

/* A column of rbx or rbp. */
static __u8 column_reg(const char *s, __s16 *offset)
{
  if (strcmp(s, "u") == 0 || strcmp(s, "s") == 0)
    return LJS_REG_SAME;
  if (s[0] != 'c' || labs(strtol(s + 1, NULL, 10)) > INT16_MAX)
    return LJS_REG_LOST;
  *offset = (__s16)strtol(s + 1, NULL, 10);
  return LJS_REG_CFA;
}

/* The column of the CFA. */
static void column_cfa(const char *s, struct ljs_row *row)
{
  static const struct {
    const char *name;
    __u8 how;
  } regs[] = {{"rsp", LJS_CFA_SP}, {"rbp", LJS_CFA_BP}, {"rbx", LJS_CFA_BX}};
  size_t i;
  if (strcmp(s, "exp") == 0)
    row->how = RE_EXP;
  for (i = 0; i < sizeof(regs) / sizeof(*regs); i++)
    if (strncmp(s, regs[i].name, 3) == 0 && (s[3] == '+' || s[3] == '-')) {
      row->how = regs[i].how;
      row->cfa = (__s32)strtol(s + 3, NULL, 10);
    }
}

/* The next column of a line, or NULL. One may have a comment: "r10 (r10)". */
static char *column(char *s, char **save)
{
  char *w = strtok_r(s, " \n", save);
  while (w && *w == '(')
    w = strtok_r(NULL, " \n", save);
  return w;
}

/* The columns that a table has. */
static void take_header(Parser *p, char *s)
{
  char *save, *w = column(s, &save);
  int i;
  p->bx = p->bp = p->sp = p->ra = -1;
  for (i = 0; w; i++, w = column(NULL, &save)) {
    if (strcmp(w, "rbx") == 0)
      p->bx = i;
    else if (strcmp(w, "rbp") == 0)
      p->bp = i;
    else if (strcmp(w, "rsp") == 0)
      p->sp = i;
    else if (strcmp(w, "ra") == 0)
      p->ra = i;
  }
}

/* One row of a table. */
static void take_row(Parser *p, char *s)
{
  struct ljs_row row = {0};
  char *save, *w = column(s, &save);
  int i, end = 0, odd = p->ra < 0;
  __s16 at = 0;
  row.pc = (__u32)strtoull(w, NULL, 16);
  for (i = 0; w; i++, w = column(NULL, &save)) {
    if (i == 1)
      column_cfa(w, &row);
    else if (i == p->bx)
      row.bxhow = column_reg(w, &row.bx);
    else if (i == p->bp)
      row.bphow = column_reg(w, &row.bp);
    else if (i == p->ra && strcmp(w, "u") == 0)
      end = 1;
    else if (i == p->sp)
      odd |= strcmp(w, "u") != 0;
    else if (i == p->ra)
      odd |= column_reg(w, &at) != LJS_REG_CFA || at != -8;
  }
  if (end || odd || row.how == LJS_CFA_UNKNOWN)
    row = (struct ljs_row){.pc = row.pc, .how = end ? LJS_CFA_END : 0};
  if (!p->infde) {
    p->cie[p->ncie - 1].row = row;
    return;
  }
  if (p->now->signal)
    row = (struct ljs_row){.pc = row.pc, .how = LJS_CFA_SIGNAL};
  p->t->row = more(p->t->row, p->t->nrow, &p->cap_row, sizeof(row));
  p->t->row[p->t->nrow++] = row;
  p->t->fn[p->t->nfn - 1].nrow++;
}

/* The function before is done: one without a table is as its CIE says. */
static void end_function(Parser *p)
{
  ReTable *t = p->t;
  ReFunction *fn;
  if (!p->infde || !t->nfn || t->fn[t->nfn - 1].nrow)
    return;
  fn = &t->fn[t->nfn - 1];
  t->row = more(t->row, t->nrow, &p->cap_row, sizeof(*t->row));
  t->row[t->nrow] = p->now->row;
  if (p->now->signal)
    t->row[t->nrow] = (struct ljs_row){.how = LJS_CFA_SIGNAL};
  t->row[t->nrow++].pc = (__u32)fn->lo;
  fn->nrow = 1;
}

/* The CIE at an offset. */
static const Cie *find_cie(const Parser *p, uint64_t at)
{
  size_t i;
  for (i = 0; i < p->ncie; i++)
    if (p->cie[i].at == at)
      return &p->cie[i];
  ck_abort_msg("no CIE at %" PRIx64, at);
}

/* "OFFSET LENGTH ID CIE "zR" ..." or "... FDE cie=AT pc=LO..HI". Returns 0 if
** it is another line.
*/
static int take_entry(Parser *p, const char *s)
{
  uint64_t at, len, id, cie, lo, hi;
  char what[64];
  if (sscanf(s, "%" SCNx64 " %" SCNx64 " %" SCNx64 " CIE \"%63[^\"]\"", &at,
             &len, &id, what) == 4 ||
      sscanf(s, "%" SCNx64 " %" SCNx64 " %" SCNx64 " CIE \"%1[\"]", &at, &len,
             &id, what) == 4) {
    end_function(p);
    p->cie = more(p->cie, p->ncie, &p->cap_cie, sizeof(*p->cie));
    p->cie[p->ncie++] = (Cie){.at = at, .signal = strchr(what, 'S') != NULL};
    p->infde = 0;
    return 1;
  }
  if (sscanf(s,
             "%" SCNx64 " %" SCNx64 " %" SCNx64 " FDE cie=%" SCNx64
             " pc=%" SCNx64 "..%" SCNx64,
             &at, &len, &id, &cie, &lo, &hi) != 6)
    return 0;
  end_function(p);
  p->t->fn = more(p->t->fn, p->t->nfn, &p->cap_fn, sizeof(*p->t->fn));
  p->t->fn[p->t->nfn++] =
      (ReFunction){.lo = lo, .hi = hi, .at = at, .row = p->t->nrow};
  p->now = find_cie(p, cie);
  p->infde = 1;
  return 1;
}

/* The section's name, of a line that begins the dump of one. */
static int is_section(const char *s, const char *name)
{
  size_t n = strlen(name);
  return strncmp(s, "Contents of the ", 16) == 0 &&
         strncmp(s + 16, name, n) == 0 && s[16 + n] == ' ';
}

/* -- Expressions ---------------------------------------------------------- */

/* Replace the CFA "exp" in a function's rows, which readelf describes as S. */
static void set_expression(ReTable *t, const ReFunction *fn, const char *s)
{
  struct ljs_row is = {0};
  size_t i;
  int n = 0;
  if (sscanf(s,
             "(DW_OP_breg7 (rsp): 8; DW_OP_breg16 (rip): 0; DW_OP_lit15; "
             "DW_OP_and; DW_OP_lit%d; DW_OP_ge; DW_OP_lit3; DW_OP_shl; "
             "DW_OP_plu%*[s])",
             &n) == 1)
    is = (struct ljs_row){.how = LJS_CFA_PLT, .cfa = n};
  else if (sscanf(s, "(DW_OP_breg6 (rbp): %d; DW_OP_dere%*[f])", &n) == 1)
    is = (struct ljs_row){.how = LJS_CFA_BP_MEM, .cfa = n};
  for (i = fn->row; i < fn->row + fn->nrow; i++) {
    struct ljs_row *row = &t->row[i];
    if (row->how != RE_EXP)
      continue;
    if (is.how)
      row->how = is.how, row->cfa = is.cfa;
    else
      *row = (struct ljs_row){.pc = row->pc};
  }
}

/* By place in the section. */
static int by_place(const void *pa, const void *pb)
{
  const ReFunction *a = pa, *b = pb;
  return a->at < b->at ? -1 : a->at > b->at;
}

/* Look for the expressions in readelf's list of instructions. Functions have
** one each, or the test would have to know more than readelf tells.
*/
static void take_expressions(ReTable *t, const char *path, const char *section)
{
  FILE *f = readelf("frames", path);
  char *line = NULL, *s;
  size_t cap = 0;
  int in = 0;
  ReFunction key, *fn = NULL;
  uint64_t len, id;
  while (getline(&line, &cap, f) > 0) {
    if (strncmp(line, "Contents of", 11) == 0)
      in = is_section(line, section);
    else if (in && sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64 " FDE",
                          &key.at, &len, &id) == 3)
      fn = bsearch(&key, t->fn, t->nfn, sizeof(key), by_place);
    else if (in && fn &&
             (s = strstr(line, "DW_CFA_def_cfa_expression ")) != NULL)
      set_expression(t, fn, s + 26);
  }
  free(line);
  ck_assert_int_eq(pclose(f), 0);
}

/* -- All ------------------------------------------------------------------ */

/* By address. */
static int by_address(const void *pa, const void *pb)
{
  const ReFunction *a = pa, *b = pb;
  return a->lo < b->lo ? -1 : a->lo > b->lo;
}

void re_read(ReTable *t, const char *path, const char *section)
{
  Parser p = {.t = t};
  FILE *f = readelf("frames-interp", path);
  char *line = NULL;
  size_t cap = 0, i, exps = 0;
  int in = 0;
  memset(t, 0, sizeof(*t));
  while (getline(&line, &cap, f) > 0) {
    if (strncmp(line, "Contents of", 11) == 0)
      in = is_section(line, section);
    else if (!in || take_entry(&p, line))
      continue;
    else if (strncmp(line, "   LOC ", 7) == 0)
      take_header(&p, line);
    else if (strspn(line, "0123456789abcdef") == 16)
      take_row(&p, line);
  }
  end_function(&p);
  free(line);
  free(p.cie);
  ck_assert_int_eq(pclose(f), 0);
  for (i = 0; i < t->nrow; i++)
    exps += t->row[i].how == RE_EXP;
  if (exps)
    take_expressions(t, path, section);
  for (i = 0; i < t->nrow; i++)
    ck_assert_int_ne(t->row[i].how, RE_EXP);
  if (t->nfn)
    qsort(t->fn, t->nfn, sizeof(*t->fn), by_address);
}

void re_free(ReTable *t)
{
  free(t->fn);
  free(t->row);
  memset(t, 0, sizeof(*t));
}
