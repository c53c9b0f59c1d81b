/*
** Names of types of cdata. A type is a word of the VM's: its kind in the upper
** four bits, flags, and the number of another type that it is made of.
*/

#include <inttypes.h>

#include "ctype_name.h"

#define CTYPE_DEEP 16 /* Types in a type. */

enum {
  CTYPE_NUM,
  CTYPE_STRUCT,
  CTYPE_PTR,
  CTYPE_ARRAY,
  CTYPE_VOID,
  CTYPE_ENUM,
  CTYPE_FUNC,
  CTYPE_TYPEDEF,
  CTYPE_ATTRIB
};

#define CTYPE_KIND(info)  ((unsigned)((info) >> 28))
#define CTYPE_CHILD(info) ((uint32_t)(info)&0xffffu)

/* Flags of numbers, of arrays and of structs. */
#define CTYPE_BOOL     0x08000000u
#define CTYPE_FP       0x04000000u
#define CTYPE_UNSIGNED 0x00800000u
#define CTYPE_COMPLEX  0x04000000u
#define CTYPE_UNION    0x00800000u

/* A type of the dump by its number, or NULL. */
static const LpDumpName *ctype_get(const LpDump *d, uint32_t number)
{
  uint32_t n = lp_idmap_get(&d->ctypes, number);
  return n == LP_NONE ? NULL : &d->ctype[n];
}

/* Append the name of a type of numbers, as C has it. */
static void ctype_number(LpBuf *b, const LpDumpName *t)
{
  if (t->info & CTYPE_BOOL)
    lp_buf_puts(b, "bool");
  else if (t->info & CTYPE_FP)
    lp_buf_puts(b, t->size == 4 ? "float" : "double");
  else
    lp_buf_printf(b, "%sint%" PRIu64 "_t", t->info & CTYPE_UNSIGNED ? "u" : "",
                  t->size * 8);
}

/* The name of the first typedef of the type NUMBER, or NULL. */
static const char *ctype_alias(const LpDump *d, uint32_t number, size_t *n)
{
  size_t i;
  for (i = 0; i < d->nctype; i++) {
    const LpDumpName *t = &d->ctype[i];
    const char *s = lp_intern_get(&d->graph.names, t->name, n);
    if (CTYPE_KIND(t->info) == CTYPE_TYPEDEF &&
        CTYPE_CHILD(t->info) == number && *n)
      return s;
  }
  return NULL;
}

/* Appends a name that the program gave, behind WHAT; or that of a typedef. */
static void ctype_given(LpBuf *b, const LpDump *d, const LpDumpName *t,
                        uint32_t number, const char *what)
{
  size_t n;
  const char *s = lp_intern_get(&d->graph.names, t->name, &n);
  if (!n && (s = ctype_alias(d, number, &n)))
    what = "";
  lp_buf_puts(b, what);
  lp_graph_quote(b, s ? s : "(anonymous)", s ? n : 11);
}

/* Appends the innermost type; what is around it is collected behind. */
static void ctype_base(LpBuf *b, const LpDump *d, const LpDumpName *t,
                       uint32_t number)
{
  switch (CTYPE_KIND(t->info)) {
  case CTYPE_NUM:
    ctype_number(b, t);
    break;
  case CTYPE_STRUCT:
    ctype_given(b, d, t, number, t->info & CTYPE_UNION ? "union " : "struct ");
    break;
  case CTYPE_ENUM:
    ctype_given(b, d, t, number, "enum ");
    break;
  case CTYPE_FUNC:
    lp_buf_puts(b, "function");
    break;
  default:
    lp_buf_puts(b, "void");
    break;
  }
}

int lp_ctype_isfunction(const LpDump *d, uint32_t number)
{
  const LpDumpName *t = ctype_get(d, number);
  return t && CTYPE_KIND(t->info) == CTYPE_FUNC;
}

void lp_ctype_name(LpBuf *b, const LpDump *d, uint32_t number)
{
  const LpDumpName *t = ctype_get(d, number);
  LpBuf behind = {0};
  int i;
  for (i = 0; t && i < CTYPE_DEEP; i++) {
    unsigned kind = CTYPE_KIND(t->info);
    const LpDumpName *in = ctype_get(d, CTYPE_CHILD(t->info));
    if (kind == CTYPE_PTR)
      lp_buf_puts(&behind, " *");
    else if (kind == CTYPE_ARRAY && (t->info & CTYPE_COMPLEX))
      lp_buf_puts(&behind, " complex");
    else if (kind == CTYPE_ARRAY && in && in->size && t->size != UINT32_MAX)
      lp_buf_printf(&behind, "[%" PRIu64 "]", t->size / in->size);
    else if (kind == CTYPE_ARRAY)
      lp_buf_puts(&behind, "[?]");
    else if (kind != CTYPE_TYPEDEF && kind != CTYPE_ATTRIB)
      break;
    number = CTYPE_CHILD(t->info);
    t = in;
  }
  if (t) {
    lp_buf_puts(b, " ");
    ctype_base(b, d, t, number);
    if (behind.n)
      lp_buf_puts(b, behind.s);
  }
  lp_buf_free(&behind);
}
