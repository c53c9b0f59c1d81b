/*
** Decodes streams of all versions into records.
*/

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compact.h"
#include "legacy.h"
#include "reader.h"

/* Report damage at the current offset to the sink. */
void lp_reader_damage(LpInput *in, const LpSink *sink, LpDamageKind kind,
                      const char *fmt, ...)
{
  LpDamage d = {.kind = kind, .offset = lp_input_offset(in)};
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(d.what, sizeof(d.what), fmt, ap);
  va_end(ap);
  sink->damage(sink->ctx, &d);
}

/* The letter of the body whose prologue is here (m, p or d), and its version;
** 0 if there is no prologue.
*/
int lp_reader_body(LpInput *in, unsigned *version)
{
  size_t have = lp_input_want(in, LJM_PROLOGUE_LEN);
  const uint8_t *p = in->p;
  if (have < LJM_PROLOGUE_LEN || p[0] != 'l' || p[1] != 'j' || !p[2] ||
      !strchr("mpd", p[2]))
    return 0;
  *version = p[3];
  return p[2];
}

/* A body of a kind that is not read yet. */
void lp_reader_refuse(LpInput *in, const LpSink *sink, int body)
{
  lp_reader_damage(in, sink, LP_NOTHING,
                   "expected a memory profile (ljm), found a %s (lj%c)",
                   body == 'p' ? "CPU profile" : "heap dump", body);
}

/* Read a whole stream. What is wrong with it is the sink's to remember. */
void lp_reader_run(LpInput *in, const LpSink *sink)
{
  size_t have = lp_input_want(in, LJM_PROLOGUE_LEN);
  const uint8_t *p = in->p;
  if (in->error)
    return;
  if (!have)
    lp_reader_damage(in, sink, LP_NOTHING, "expected a stream, it is empty");
  else if (memcmp(p, "ljs", have < 3 ? have : 3) != 0)
    lp_reader_damage(in, sink, LP_NOTHING,
                     "expected a stream (ljs), found %02x %02x %02x", p[0],
                     p[1], p[2]);
  else if (have < LJM_PROLOGUE_LEN)
    lp_reader_damage(in, sink, LP_NOTHING,
                     "expected a stream, it ends inside its prologue");
  else if (p[3] == LJM_VERSION)
    lp_compact_read(in, sink);
  else if (p[3] >= 1 && p[3] <= 3)
    lp_legacy_read(in, sink);
  else
    lp_reader_damage(in, sink, LP_NOTHING,
                     "expected version 1, 2, 3 or 16, found %u", p[3]);
}
