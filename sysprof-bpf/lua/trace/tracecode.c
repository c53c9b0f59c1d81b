/*
** The machine code of a trace, instruction by instruction.
*/

#include <stdlib.h>

#include "tracecode.h"

#define CODE_MAX 65536 /* No trace has more bytes of code. */

/* Decode SIZE bytes. Returns false if there is an instruction not known. */
static bool code_decode(LsCode *c, const uint8_t *code, uint32_t size)
{
  uint32_t at;
  for (at = 0; at < size; at += c->ins[c->n++].x.len) {
    c->ins[c->n].ofs = at;
    if (!ls_x86_decode(code + at, size - at, &c->ins[c->n].x))
      return false;
  }
  return true;
}

bool ls_code_read(const LsIr *t, LsCode *c)
{
  uint32_t size = t->szmcode;
  bool was = t->v->mem->bad, ok; /* The caller goes on without code. */
  uint8_t *code;
  *c = (LsCode){0};
  if (size == 0 || size > CODE_MAX)
    return false;
  code = malloc(size);
  c->ins = malloc(size * sizeof(*c->ins));
  ok = code && c->ins && ls_remote_get(t->v->mem, t->mcode, code, size) &&
       code_decode(c, code, size);
  t->v->mem->bad = was;
  free(code);
  if (!ok)
    ls_code_free(c);
  return ok;
}

void ls_code_free(LsCode *c)
{
  free(c->ins);
  *c = (LsCode){0};
}

uint32_t ls_code_at(const LsCode *c, uint32_t ofs)
{
  uint32_t lo = 0, hi = c->n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (c->ins[mid].ofs < ofs)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}
