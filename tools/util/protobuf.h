/*
** Messages of protobuf as they are written: a field is a number or bytes, and
** messages in a message are bytes.
*/

#ifndef LP_PROTOBUF_H
#define LP_PROTOBUF_H

#include "mem.h"

void lp_pb_varint(LpBuf *b, uint64_t v);
void lp_pb_number(LpBuf *b, unsigned field, uint64_t v);
void lp_pb_head(LpBuf *b, unsigned field, size_t n);
void lp_pb_message(LpBuf *b, unsigned field, LpBuf *msg);

#endif
