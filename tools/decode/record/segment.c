/*
** Segments: which part of a recording a file is.
*/

#include <string.h>
#include <unistd.h>

#include "ljm_block.h"
#include "leb.h"
#include "segment.h"

#define SEGMENT_PEEK 32768 /* META is at the start, and shorter. */

/* A number in META. */
static void segment_key(LpSegment *s, const LpStr *key, uint64_t u,
                        unsigned *has)
{
  if (lp_str_is(*key, "recording")) {
    s->recording = u;
    *has |= 1;
  } else if (lp_str_is(*key, "segment")) {
    s->number = u;
    *has |= 2;
  } else if (lp_str_is(*key, "monotonic")) {
    s->monotonic = u;
    *has |= 4;
  }
}

/* All keys of META. */
static int segment_meta(LpCursor *c, LpSegment *s)
{
  unsigned has = 0;
  while (c->p < c->end && !c->bad) {
    LpStr key = lp_cursor_str(c);
    const uint8_t *tag = lp_cursor_bytes(c, 1);
    if (tag && *tag == LJM_META_UINT)
      segment_key(s, &key, lp_cursor_uleb(c), &has);
    else if (tag && *tag == LJM_META_STRING)
      lp_cursor_str(c);
    else
      break;
  }
  return !c->bad && has == 7;
}

/* The records of a block up to META. */
static int segment_block(LpCursor *c, LpSegment *s)
{
  while (c->p < c->end && !c->bad) {
    const uint8_t *head = lp_cursor_bytes(c, 1);
    uint64_t n = lp_cursor_uleb(c);
    LpCursor record = {c->p, NULL, 0};
    lp_cursor_bytes(c, n);
    record.end = c->p;
    if (!c->bad && *head == LJM_RECORD_BYTE(LJM_REC_META))
      return segment_meta(&record, s);
    if (!head || (*head & 3)) /* An event: there is no META. */
      break;
  }
  return 0;
}

int lp_segment_find(const uint8_t *at, size_t n, LpSegment *s)
{
  static const char body[] = {'l', 'j', 'm', LJM_VERSION};
  LpCursor c = {at, at + n, 0};
  const uint8_t *p = lp_cursor_bytes(&c, LJM_PROLOGUE_LEN);
  uint64_t len;
  memset(s, 0, sizeof(*s));
  if (!p || memcmp(p, "ljs", 3) != 0 || p[3] != LJM_VERSION)
    return 0;
  lp_cursor_uleb(&c);     /* The VM's address. */
  lp_cursor_bytes(&c, 1); /* The end of the symbols. */
  p = lp_cursor_bytes(&c, LJM_PROLOGUE_LEN);
  if (!p || memcmp(p, body, sizeof(body)) != 0)
    return 0;
  p = lp_cursor_bytes(&c, LJM_BLOCK_HEADER);
  if (!p || memcmp(p, LJM_BLOCK_MAGIC, 4) != 0)
    return 0;
  len = ljm_block_length(p);
  if (len > (uint64_t)(c.end - c.p) || !ljm_block_iswhole(p, (uint32_t)len))
    return 0;
  c.end = c.p + len;
  return segment_block(&c, s);
}

int lp_segment_peek(int fd, LpSegment *s)
{
  uint8_t buf[SEGMENT_PEEK];
  ssize_t n = pread(fd, buf, sizeof(buf), 0);
  return lp_segment_find(buf, n > 0 ? (size_t)n : 0, s);
}

int lp_segment_follows(const LpSegment *a, const LpSegment *b)
{
  return a->recording == b->recording && a->number + 1 == b->number;
}
