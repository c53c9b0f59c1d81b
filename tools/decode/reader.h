/*
** Decodes streams of all versions into records.
*/

#ifndef LP_READER_H
#define LP_READER_H

#include "input.h"
#include "record.h"

/* Read a whole stream of any version. Damage is reported to the sink; nothing
** is returned.
*/
void lp_reader_run(LpInput *in, const LpSink *sink);

/* -- For the readers of single versions ----------------------------------- */

/* The letter of the body whose prologue is next (m, p, d), and its version; 0
** if there is no prologue.
*/
int lp_reader_body(LpInput *in, unsigned *version);

/* Report to the sink that bodies of this kind are not supported. */
void lp_reader_refuse(LpInput *in, const LpSink *sink, int body);

/* Report damage at the current offset of IN to the sink. */
void lp_reader_damage(LpInput *in, const LpSink *sink, LpDamageKind kind,
                      const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
