/*
** The prologue of a stream's body, for the readers of single versions.
*/

#include <string.h>

#include "prologue.h"

int lp_prologue_body(LpInput *in, const LpSink *sink, const char *read,
                     unsigned *version)
{
  size_t have = lp_input_want(in, LJM_PROLOGUE_LEN);
  const uint8_t *p = in->p;
  if (have < LJM_PROLOGUE_LEN || p[0] != 'l' || p[1] != 'j' || !p[2] ||
      !strchr("mpd", p[2]))
    return 0;
  *version = p[3];
  if (strchr(read, p[2]))
    return p[2];
  if (p[2] == 'd')
    lp_damage_report(sink, LP_NOTHING, lp_input_offset(in),
                     "expected a recording, found another heap dump (ljd): two "
                     "are compared by --diff=OLD NEW");
  else
    lp_damage_report(sink, LP_NOTHING, lp_input_offset(in),
                     "expected a memory profile (ljm), found a CPU profile "
                     "(ljp)");
  return -1;
}
