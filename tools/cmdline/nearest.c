/*
** The name that was probably meant by a mistyped one.
**
** The distance is the number of inserted, deleted, replaced or swapped
** characters (optimal string alignment).
*/

#include <string.h>

#include "nearest.h"

#define NEAREST_MAX 40 /* Longer words have no suggestion. */

/* The least of three. */
static unsigned nearest_least(unsigned a, unsigned b, unsigned c)
{
  unsigned least = a < b ? a : b;
  return least < c ? least : c;
}

/* The edits that make NAME of WORD; both are short. */
static unsigned nearest_edits(const char *word, const char *name)
{
  unsigned row[3][NEAREST_MAX + 1];
  unsigned *before = row[0], *last = row[1], *now = row[2], *free_row;
  size_t n = strlen(word), m = strlen(name), i, k;
  for (k = 0; k <= m; k++)
    last[k] = (unsigned)k;
  for (i = 1; i <= n; i++) {
    now[0] = (unsigned)i;
    for (k = 1; k <= m; k++) {
      unsigned other = word[i - 1] != name[k - 1];
      now[k] = nearest_least(last[k] + 1, now[k - 1] + 1, last[k - 1] + other);
      if (i > 1 && k > 1 && word[i - 1] == name[k - 2] &&
          word[i - 2] == name[k - 1] && before[k - 2] + 1 < now[k])
        now[k] = before[k - 2] + 1;
    }
    free_row = before;
    before = last;
    last = now;
    now = free_row;
  }
  return last[m];
}

ClNearest cl_nearest(const char *word)
{
  return (ClNearest){.word = word};
}

void cl_nearest_try(ClNearest *s, const char *name)
{
  size_t n = strlen(s->word), m = strlen(name);
  unsigned cost;
  if (!n || n > NEAREST_MAX || m > NEAREST_MAX)
    return;
  cost = nearest_edits(s->word, name);
  if (n > 1 && strncmp(s->word, name, n) == 0)
    cost = 1;
  else if (cost > (n < 5 ? 1 : n / 3) || cost >= n || cost >= m)
    return;
  if (!s->best || cost < s->cost) {
    s->best = name;
    s->cost = cost;
  }
}
