/*
** Writes profile.proto: strings, messages, types and comments.
*/

#include <string.h>

#include "pprof_out.h"
#include "utf8.h"

void lp_pprof_open(LpPprof *p, LpOut *out)
{
  *p = (LpPprof){0};
  lp_gzip_open(&p->gzip, out);
  lp_pprof_string(p, "");
}

void lp_pprof_close(LpPprof *p)
{
  lp_gzip_close(&p->gzip);
  lp_intern_free(&p->strings);
  lp_buf_free(&p->top);
}

void lp_pprof_field(LpPprof *p, unsigned field, LpBuf *msg)
{
  lp_pb_message(&p->top, field, msg);
  lp_gzip_add(&p->gzip, &p->top);
  p->top.n = 0;
}

void lp_pprof_number(LpPprof *p, unsigned field, uint64_t n)
{
  lp_pb_number(&p->top, field, n);
  lp_gzip_add(&p->gzip, &p->top);
  p->top.n = 0;
}

uint64_t lp_pprof_string(LpPprof *p, const char *s)
{
  LpBuf text = {0};
  uint32_t n = p->strings.n, id;
  lp_utf8_add(&text, s, strlen(s));
  id = lp_intern(&p->strings, text.s ? text.s : "", text.n);
  if (id == n)
    lp_pprof_field(p, PROFILE_STRING, &text);
  lp_buf_free(&text);
  return id;
}

void lp_pprof_type(LpPprof *p, unsigned field, const char *type,
                   const char *unit)
{
  LpBuf msg = {0};
  lp_pb_number(&msg, VALUE_TYPE, lp_pprof_string(p, type));
  lp_pb_number(&msg, VALUE_UNIT, lp_pprof_string(p, unit));
  lp_pprof_field(p, field, &msg);
  lp_buf_free(&msg);
}

void lp_pprof_comment(LpPprof *p, LpBuf *b)
{
  if (b->n)
    lp_pprof_number(p, PROFILE_COMMENT, lp_pprof_string(p, b->s));
  b->n = 0;
}
