/*
** What was learned of a file, as it is passed between processes and kept in
** files.
*/

#ifndef LS_PACK_H
#define LS_PACK_H

#include <sys/uio.h>

#include "learn.h"

#define LS_PACK_PARTS 8 /* The header, and what it has numbers of. */

/* Bytes of all parts together: what is more is refused. */
#define LS_PACK_MAX (160ull << 20)

/* The first part. */
typedef struct LsPackHead {
  uint64_t segments, rows, ranges, roles, pieces, text, needed;
  uint64_t nbuildid, over, hasvm, collector;
  uint8_t buildid[64];
  char why[LS_WHY];
  struct ljs_vm vm;
} LsPackHead;

/* Parts in their order. Some of them are in here. */
typedef struct LsPack {
  LsPackHead head;
  LsSegment segment[LS_ELF_SEGMENTS];
  struct iovec part[LS_PACK_PARTS];
} LsPack;

/* Describe L as parts in *P. They are valid until L is changed. */
void ls_pack(const LsLearned *l, LsPack *p);

/* Bytes of all parts. */
uint64_t ls_pack_size(const LsPack *p);

/* Reads the next N bytes to BUF. Returns 0, or -1 and errno. */
typedef int LsPackRead(void *ctx, void *buf, size_t n);

/* Make *OUT of parts that READ brings, which are untrusted. The caller frees
** it. Returns 0; or -1 and errno: what READ sets, ENOMEM, E2BIG for too many
** bytes, EPROTO if they make no sense; then there is nothing to free.
*/
int ls_unpack(LsPackRead *read, void *ctx, LsLearned *out);

#endif
