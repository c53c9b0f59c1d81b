/*
** --pid, --comm, --thread, --cgroup, --label: whose samples count.
*/

#include <inttypes.h>
#include <string.h>

#include "options.h"
#include "printable.h"
#include "suggest.h"

/* The conditions, which LpOptions.wanted has. */
static LpPick *pick;
static size_t picks; /* Room. */

void lp_option_pick(LpPickKey key, const char *glob,
                    const struct argp_state *state)
{
  LpWanted *w = &lp_options.wanted;
  if (!*glob || (key == LP_PICK_PID && glob[strspn(glob, "0123456789")]))
    lp_option_error(state, "--%s: expected %s, not '%s'", lp_pick_key[key],
                    key == LP_PICK_PID ? "a process id" : "a name", glob);
  pick = lp_grow(pick, &picks, w->npick + 1, sizeof(*pick));
  pick[w->npick++] = (LpPick){key, glob};
  w->pick = pick;
}

void lp_option_label(const char *arg, const struct argp_state *state)
{
  size_t n = strcspn(arg, "=");
  LpBuf key = {0}, why = {0};
  ClNearest near;
  int i;
  lp_buf_add(&key, arg, n);
  near = cl_nearest(n ? key.s : "");
  for (i = 0; i < LP_NPICK; i++) {
    if (arg[n] == '=' && n && strcmp(key.s, lp_pick_key[i]) == 0)
      break;
    cl_nearest_try(&near, lp_pick_key[i]);
  }
  if (i == LP_NPICK) {
    lp_suggest_add(&why, &near, "");
    lp_option_error(state,
                    "--label: expected KEY=GLOB with KEY pid, comm, thread, "
                    "tid, cgroup or host, not '%s'%s",
                    arg, arg[n] == '=' && why.n ? why.s : "");
  }
  lp_option_pick((LpPickKey)i, arg + n + 1, state);
  lp_buf_free(&key);
  lp_buf_free(&why);
}

#define PICK_VALUES 5 /* So many values are listed. */

/* Append values that a label has, in the order in which they were met. */
static void pick_values(LpBuf *b, const LpCpu *cpu, LpPickKey key)
{
  LpBuf list = {0}, value = {0}, text = {0};
  int ofthread = key == LP_PICK_THREAD || key == LP_PICK_TID;
  uint32_t i, n = 0, all = ofthread ? cpu->threads.n : cpu->processes.n;
  for (i = 1; i < all && n <= PICK_VALUES; i++) {
    lp_buf_free(&value);
    lp_buf_free(&text);
    if (ofthread)
      lp_pick_value(&value, cpu, i, key);
    else
      lp_pick_process_value(&value, cpu, i, key);
    if (!value.n)
      continue;
    lp_buf_puts(&text, "'");
    lp_printable(&text, (LpStr){value.s, value.n});
    lp_buf_puts(&text, "'");
    if (list.n && strstr(list.s, text.s))
      continue;
    lp_buf_printf(&list, "%s%s", n ? ", " : "",
                  n < PICK_VALUES ? text.s : "...");
    n++;
  }
  if (n)
    lp_buf_printf(b, "; there %s %s", n == 1 ? "is" : "are", list.s);
  else
    lp_buf_printf(b, "; no %s was recorded", lp_pick_key[key]);
  lp_buf_free(&list);
  lp_buf_free(&value);
  lp_buf_free(&text);
}

int lp_option_nothing(LpBuf *b, const LpProfile *prof)
{
  const LpWanted *w = &lp_options.wanted;
  const LpFiles *f = &prof->files;
  size_t i;
  if (!w->npick || prof->cpu.samples || f->memory > f->left ||
      !(prof->cpu.others || f->left))
    return 0;
  for (i = 0; i < w->npick; i++) {
    lp_buf_printf(b, "%s--%s=%s", i ? " " : "", lp_pick_key[w->pick[i].key],
                  w->pick[i].glob);
  }
  lp_buf_printf(b, " matches no %s", f->left ? "recording" : "sample");
  for (i = 0; i < w->npick; i++) {
    size_t k;
    for (k = 0; k < i && w->pick[k].key != w->pick[i].key; k++)
      ;
    if (k == i)
      pick_values(b, &prof->cpu, w->pick[i].key);
  }
  return 1;
}
