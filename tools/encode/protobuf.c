/*
** Messages of protobuf as they are written.
*/

#include "protobuf.h"

enum { PB_VARINT = 0, PB_LEN = 2 }; /* How a field goes on behind its number. */

void lp_pb_varint(LpBuf *b, uint64_t v)
{
  char c[10];
  size_t n = 0;
  for (; v >= 0x80; v >>= 7)
    c[n++] = (char)(v | 0x80);
  c[n++] = (char)v;
  lp_buf_add(b, c, n);
}

void lp_pb_number(LpBuf *b, unsigned field, uint64_t v)
{
  if (!v)
    return;
  lp_pb_varint(b, field << 3 | PB_VARINT);
  lp_pb_varint(b, v);
}

void lp_pb_message(LpBuf *b, unsigned field, LpBuf *msg)
{
  lp_pb_varint(b, field << 3 | PB_LEN);
  lp_pb_varint(b, msg->n);
  lp_buf_add(b, msg->s, msg->n);
  msg->n = 0;
}
