/*
** Sentences about a joined heap dump: who keeps what, and who made it.
*/

#include <inttypes.h>
#include <stdlib.h>

#include "frame.h"
#include "heap_join.h"
#include "heap_suspects.h"
#include "text.h"

#define JOIN_KEEPERS (LP_JOIN_SENTENCES - 2) /* That have a sentence, */
#define JOIN_SITES   3                       /* and sites in each, */
#define JOIN_PERCENT 5 /* of at least so much of what is kept. */

/* -- Words ----------------------------------------------------------------- */

void lp_join_keeper(LpBuf *b, const LpJoin *j, uint32_t keeper)
{
  if (keeper == LP_KEEPER_REST)
    lp_buf_puts(b, "(others)");
  else if (keeper == LP_KEEPER_GARBAGE)
    lp_buf_puts(b, "(garbage)");
  else if (keeper == LP_KEEPER_UNKNOWN)
    lp_buf_puts(b, "(unknown)");
  else if (j->keeper[keeper].shared)
    lp_heap_together(b, j->heap, j->keeper[keeper].shared);
  else
    lp_heap_place(b, j->heap, j->keeper[keeper].id);
}

void lp_join_site(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  LpBuf name = {0}, file = {0};
  uint64_t line, first;
  lp_frame_name(&name, prof, site);
  lp_frame_file(&file, prof, site);
  if (!lp_frame_line(prof, site, &line))
    line = 0;
  if (!lp_frame_first(prof, site, &first))
    first = 0;
  if (file.n && (line || first))
    lp_heap_function(b, name.n ? name.s : "", file.s, first, line);
  else
    lp_label_whole(b, prof, site);
  lp_buf_free(&name);
  lp_buf_free(&file);
}

/* Append an age in milliseconds: 40 s. */
static void sentence_age(LpBuf *b, uint64_t ms)
{
  if (ms < 1000)
    lp_buf_printf(b, "%" PRIu64 " ms", ms);
  else if (ms < 10000)
    lp_buf_printf(b, "%.1f s", (double)ms / 1000);
  else if (ms < 7200000)
    lp_buf_printf(b, "%" PRIu64 " s", ms / 1000);
  else
    lp_buf_printf(b, "%.1f h", (double)ms / 3600000);
}

/* -- Sentences ------------------------------------------------------------- */

/* The part of a keeper that one site has made, with any callers. */
typedef struct Share {
  uint32_t site;
  uint64_t bytes, oldest;
} Share;

/* Add what one site has made. */
static void share_add(Share *s, const LpMade *m)
{
  s->bytes += m->live.bytes;
  if (m->oldest != UINT64_MAX &&
      (s->oldest == UINT64_MAX || m->oldest > s->oldest))
    s->oldest = m->oldest;
}

/* The N sites that made most of what K keeps. Returns the sum of all. */
static uint64_t join_shares(const LpJoin *j, const LpKeeper *k, Share *top,
                            size_t *n)
{
  Share *all = lp_alloc((k->nmade + 1) * sizeof(*all));
  LpIdMap at = {0};
  size_t i, count = 0;
  uint64_t sum = 0;
  for (i = 0; i < k->nmade; i++) {
    const LpMade *m = &j->made[k->made + i];
    uint32_t one = lp_idmap_add(&at, m->site, (uint32_t)count);
    if (one == count)
      all[count++] = (Share){m->site, 0, UINT64_MAX};
    share_add(&all[one], m);
    sum += m->live.bytes;
  }
  for (*n = 0; *n < JOIN_SITES && *n < count; ++*n) {
    size_t best = 0;
    for (i = 1; i < count; i++)
      if (all[i].bytes > all[best].bytes)
        best = i;
    top[*n] = all[best];
    all[best].bytes = 0;
  }
  lp_idmap_free(&at);
  free(all);
  return sum;
}

/* Append who made a share of what is kept, and how old it is. */
static void sentence_share(LpBuf *b, const LpProfile *prof, const Share *s,
                           uint64_t all)
{
  double percent = lp_text_percent(s->bytes, all);
  if (percent < 99.95)
    lp_buf_printf(b, "%.1f%% ", percent);
  if (s->site == LP_SITE_BEFORE) {
    lp_buf_puts(b, "made before the recording began");
  } else if (s->site == LP_SITE_LOST) {
    lp_buf_puts(b, "made by whom is lost");
  } else {
    lp_buf_puts(b, "made at ");
    lp_join_site(b, prof, s->site);
  }
  if (s->oldest != UINT64_MAX) {
    lp_buf_puts(b, ", oldest ");
    sentence_age(b, s->oldest);
  }
}

/* The sum of what sites have made, in bytes. */
static uint64_t join_bytes(const LpMade *m, size_t n)
{
  uint64_t sum = 0;
  size_t i;
  for (i = 0; i < n; i++)
    sum += m[i].live.bytes;
  return sum;
}

/* Append what a keeper keeps, or what of that is new, and who made it. */
static void sentence_write(LpBuf *b, const LpSubject *subject, uint32_t keeper)
{
  const LpJoin *j = subject->join;
  const LpKeeper *k = &j->keeper[keeper];
  Share top[JOIN_SITES];
  size_t i, n;
  uint64_t all = join_shares(j, k, top, &n);
  uint64_t bytes = j->fresh ? all : k->bytes;
  lp_buf_printf(b, "%.1f%% (",
                lp_text_percent(bytes, j->fresh ? join_bytes(j->made, j->nmade)
                                                : lp_heap_bytes(j->heap)));
  lp_text_size(b, bytes, 1);
  lp_buf_puts(b, j->fresh ? ") of what is new is kept by " : ") is kept by ");
  lp_join_keeper(b, j, keeper);
  for (i = 0; i < n; i++) {
    if (i && lp_text_percent(top[i].bytes, all) < JOIN_PERCENT)
      break;
    lp_buf_puts(b, i ? "; " : ", ");
    sentence_share(b, subject->prof, &top[i], all);
  }
  if (!n)
    lp_buf_puts(b, ", and none of it was sampled");
}

/* Append how far who made it, and when, was sampled. */
static void sentence_sampled(LpBuf *b, const LpJoin *j)
{
  lp_buf_printf(b,
                "Who made it, and ages, are estimates: one sample in %" PRIu64
                " bytes; %" PRIu64 " of %" PRIu64 " blocks were sampled",
                j->sample, j->found, j->blocks);
}

/* Append what may be wrong with it. */
static void sentence_doubt(LpBuf *b, const LpJoin *j)
{
  if (j->lost)
    lp_buf_printf(b,
                  "%" PRIu64 " events before the dump were lost: some of it "
                  "may be wrong",
                  j->lost);
  else
    lp_buf_printf(b,
                  "%" PRIu64 " blocks have another size in the recording: who "
                  "made these may be wrong",
                  j->differs);
}

/* What is new of what a keeper keeps, in bytes. */
static uint64_t keeper_new(const LpJoin *j, uint32_t keeper)
{
  const LpKeeper *k = &j->keeper[keeper];
  return join_bytes(j->made + k->made, k->nmade);
}

/* The keeper behind another one, LP_KEEPER_FIRST - 1 at first: the next one, or
** of what is new the one that keeps most of it below that; 0 at the end.
*/
static uint32_t join_next(const LpJoin *j, uint32_t keeper)
{
  uint64_t least = join_bytes(j->made, j->nmade) / 100 * JOIN_PERCENT;
  uint64_t last = UINT64_MAX, most = least;
  uint32_t next = 0, i;
  if (!j->fresh)
    return keeper + 1 < j->nkeeper ? keeper + 1 : 0;
  if (keeper >= LP_KEEPER_FIRST)
    last = keeper_new(j, keeper);
  for (i = LP_KEEPER_FIRST; i < j->nkeeper; i++) {
    uint64_t bytes = keeper_new(j, i);
    int behind = bytes < last || (bytes == last && i > keeper);
    if (behind && bytes > most) {
      most = bytes;
      next = i;
    }
  }
  return next;
}

size_t lp_join_sentences(LpBuf text[LP_JOIN_SENTENCES],
                         const LpSubject *subject)
{
  const LpJoin *j = subject->join;
  uint32_t keeper = LP_KEEPER_FIRST - 1;
  size_t n = 0;
  while (n < JOIN_KEEPERS && (keeper = join_next(j, keeper)) != 0)
    sentence_write(&text[n++], subject, keeper);
  if (!n && j->fresh)
    lp_buf_puts(&text[n++],
                join_bytes(j->made, j->nmade)
                    ? "Nothing keeps more than 5% of what is new in one place"
                    : "Nothing of it is known to be new");
  else if (!n)
    lp_buf_printf(&text[n++], "Nothing keeps more than %d%%", LP_JOIN_PERCENT);
  if (j->sample)
    sentence_sampled(&text[n++], j);
  if (j->lost || j->differs)
    sentence_doubt(&text[n++], j);
  return n;
}
