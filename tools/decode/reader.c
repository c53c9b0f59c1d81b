/*
** Decodes streams of all versions into records.
*/

#include <string.h>

#include "compact.h"
#include "guess.h"
#include "legacy.h"
#include "reader.h"

/* The file is no recording. */
static void reader_foreign(LpInput *in, const LpSink *sink)
{
  size_t n = lp_input_want(in, LP_GUESS_BYTES);
  const uint8_t *p = in->p;
  const char *kind = lp_guess(p, n < LP_GUESS_BYTES ? n : LP_GUESS_BYTES);
  if (kind)
    lp_damage_report(sink, LP_NOTHING, lp_input_offset(in),
                     "expected a recording (ljs), this seems to be %s", kind);
  else
    lp_damage_report(sink, LP_NOTHING, lp_input_offset(in),
                     "expected a recording (ljs), found %02x %02x %02x", p[0],
                     p[1], p[2]);
}

void lp_reader_run(LpInput *in, const LpSink *sink)
{
  size_t have = lp_input_want(in, LJM_PROLOGUE_LEN);
  const uint8_t *p = in->p;
  if (in->error)
    return;
  if (!have)
    lp_damage_report(sink, LP_NOTHING, lp_input_offset(in),
                     "expected a recording, the file is empty");
  else if (memcmp(p, "ljs", have < 3 ? have : 3) != 0)
    reader_foreign(in, sink);
  else if (have < LJM_PROLOGUE_LEN)
    lp_damage_report(
        sink, LP_NOTHING, lp_input_offset(in),
        "expected a recording, the file ends inside its first bytes");
  else if (p[3] == LJM_VERSION)
    lp_compact_read(in, sink);
  else if (p[3] >= 1 && p[3] <= 3)
    lp_legacy_read(in, sink);
  else
    lp_damage_report(sink, LP_NOTHING, lp_input_offset(in),
                     "expected version 1, 2, 3 or 16, found %u", p[3]);
}
