/*
** Records of version 0x10, between the events.
*/

#ifndef LP_RECORDS_H
#define LP_RECORDS_H

#include "items.h"

/* Decode the record at P. Returns its end, or NULL if it is incomplete. A
** record that is too short for its fields is skipped.
*/
const uint8_t *lp_record_read(LpItems *it, const uint8_t *p,
                              const uint8_t *end);

#endif
