/*
** Chunks of two sides: the same file under another root.
*/

#include <stdlib.h>
#include <string.h>

#include "chunks.h"
#include "idmap.h"
#include "mem.h"

#define CHUNKS_MOST   (1u << 22) /* Pairs that are looked at, */
#define CHUNKS_ROUNDS 4          /* so often. */

unsigned lp_chunks_tail(LpStr a, LpStr b)
{
  unsigned parts = 0;
  if (!a.n || !b.n || a.s[0] != '@' || b.s[0] != '@')
    return 0;
  for (; a.n > 1 && b.n > 1; a.n--, b.n--) {
    if (a.s[a.n - 1] != b.s[b.n - 1])
      return parts;
    parts += a.s[a.n - 1] == '/';
  }
  /* One of them is at its start: a part ends here, or only began alike. */
  if ((a.n > 1 && a.s[a.n - 1] != '/') || (b.n > 1 && b.s[b.n - 1] != '/'))
    return parts;
  return parts + 1;
}

/* Of N chunks that are free, the one with the longest tail in common with
** another one; LP_NONE if there is none, or if several are as good.
*/
static uint32_t chunks_best(LpStr of, const LpStr *in, uint32_t n,
                            const char *done)
{
  unsigned most = 0;
  uint32_t best = LP_NONE, i;
  for (i = 0; i < n; i++) {
    unsigned tail = done[i] ? 0 : lp_chunks_tail(of, in[i]);
    if (tail > most) {
      most = tail;
      best = i;
    } else if (tail == most) {
      best = LP_NONE;
    }
  }
  return best;
}

/* Find those that are each other's best. Returns how many were found. */
static uint32_t chunks_round(const LpStr *a, uint32_t n, const LpStr *b,
                             uint32_t m, uint32_t *to, char *done)
{
  uint32_t i, found = 0;
  for (i = 0; i < n; i++) {
    uint32_t best = done[i] ? LP_NONE : chunks_best(a[i], b, m, done + n);
    if (best == LP_NONE || chunks_best(b[best], a, n, done) != i)
      continue;
    to[i] = best;
    done[i] = done[n + best] = 1;
    found++;
  }
  return found;
}

void lp_chunks_match(const LpStr *a, uint32_t n, const LpStr *b, uint32_t m,
                     uint32_t *to)
{
  char *done = lp_zalloc((size_t)n + m + 1, 1);
  unsigned rounds = CHUNKS_ROUNDS;
  uint32_t i;
  for (i = 0; i < n; i++)
    to[i] = LP_NONE;
  if ((uint64_t)n * m <= CHUNKS_MOST)
    while (rounds-- && chunks_round(a, n, b, m, to, done))
      ;
  free(done);
}
