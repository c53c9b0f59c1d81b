/*
** Sentences about a joined heap dump: who keeps what, and who made it.
*/

#include <inttypes.h>
#include <stdlib.h>

#include "frame.h"
#include "heap_join.h"
#include "text.h"

#define JOIN_SENTENCES 5 /* Keepers that have one, */
#define JOIN_SITES     3 /* and sites in each, */
#define JOIN_PERCENT   5 /* of at least so much of what is kept. */

/* -- Words ----------------------------------------------------------------- */

void lp_join_keeper(LpBuf *b, const LpJoin *j, uint32_t keeper)
{
  if (keeper == LP_KEEPER_REST)
    lp_buf_puts(b, "(others)");
  else if (keeper == LP_KEEPER_GARBAGE)
    lp_buf_puts(b, "(garbage)");
  else if (keeper == LP_KEEPER_UNKNOWN)
    lp_buf_puts(b, "(unknown)");
  else
    lp_heap_place(b, j->heap, j->keeper[keeper].id);
}

void lp_join_site(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  LpBuf name = {0}, file = {0};
  uint64_t line, first;
  lp_frame_name(&name, prof, site);
  lp_frame_file(&file, prof, site);
  if (!file.n || !lp_frame_line(prof, site, &line))
    lp_label_whole(b, prof, site);
  else if (name.n)
    lp_buf_printf(b, "%s (%s:%" PRIu64 ")", name.s, file.s, line);
  else if (lp_frame_first(prof, site, &first) && first)
    lp_buf_printf(b, "function of line %" PRIu64 " (%s:%" PRIu64 ")", first,
                  file.s, line);
  else
    lp_buf_printf(b, "%s:%" PRIu64, file.s, line);
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

/* Append what a keeper keeps, and who made it. */
static void sentence_write(LpBuf *b, const LpSubject *subject, uint32_t keeper)
{
  const LpJoin *j = subject->join;
  const LpKeeper *k = &j->keeper[keeper];
  Share top[JOIN_SITES];
  size_t i, n;
  uint64_t all = join_shares(j, k, top, &n);
  lp_buf_printf(b, "  %.1f%% (",
                lp_text_percent(k->bytes, lp_heap_bytes(j->heap)));
  lp_text_size(b, k->bytes, 1);
  lp_buf_puts(b, ") is kept by ");
  lp_join_keeper(b, j, keeper);
  for (i = 0; i < n; i++) {
    if (i && lp_text_percent(top[i].bytes, all) < JOIN_PERCENT)
      break;
    lp_buf_puts(b, i ? "; " : ", ");
    sentence_share(b, subject->prof, &top[i], all);
  }
  if (!n)
    lp_buf_puts(b, ", and none of it was sampled");
  lp_buf_puts(b, "\n");
}

/* How exact all of this is. */
static void sentence_doubt(LpBuf *b, const LpJoin *j)
{
  if (j->sample)
    lp_buf_printf(b,
                  "  Who made it, and ages, are estimates: one sample in "
                  "%" PRIu64 " bytes; %" PRIu64 " of %" PRIu64
                  " blocks were sampled\n",
                  j->sample, j->found, j->blocks);
  if (j->lost)
    lp_buf_printf(b,
                  "  %" PRIu64 " events before the dump were lost: some of it "
                  "may be wrong\n",
                  j->lost);
  else if (j->differs)
    lp_buf_printf(b,
                  "  %" PRIu64 " blocks have another size in the recording: "
                  "who made these may be wrong\n",
                  j->differs);
}

void lp_join_sentences(LpOut *out, const LpSubject *subject)
{
  const LpJoin *j = subject->join;
  LpBuf *b = &out->buf;
  uint32_t i;
  lp_buf_puts(b, "WHO KEEPS WHAT WHO MADE\n");
  for (i = LP_KEEPER_FIRST;
       i < j->nkeeper && i < LP_KEEPER_FIRST + JOIN_SENTENCES; i++)
    sentence_write(b, subject, i);
  if (j->nkeeper == LP_KEEPER_FIRST)
    lp_buf_printf(b, "  Nothing keeps more than %d%%\n", LP_JOIN_PERCENT);
  sentence_doubt(b, j);
  lp_buf_puts(b, "\n");
}
