/*
** Encodes protobuf messages: fields are integers or bytes; nested messages are
** bytes.
*/

#ifndef LP_PROTOBUF_H
#define LP_PROTOBUF_H

#include "mem.h"

/* Append an integer. Negative numbers are encoded as 64 bits. */
void lp_pb_varint(LpBuf *b, uint64_t v);

/* Append an integer field. 0 is the default and is not written. */
void lp_pb_number(LpBuf *b, unsigned field, uint64_t v);

/* Append MSG as a field: a message or a packed list of integers. MSG is empty
** then.
*/
void lp_pb_message(LpBuf *b, unsigned field, LpBuf *msg);

#endif
