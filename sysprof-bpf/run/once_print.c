/*
** The stacks of all threads, as text and as JSON.
*/

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cut.h"
#include "once.h"
#include "procstat.h"
#include "text.h"

/* -- Strings of the process ----------------------------------------------- */

/* Prints N bytes; those that are no text as \xNN, in JSON as \u00NN. */
static void print_bytes(const char *text, size_t n, int json)
{
  const unsigned char *s = (const unsigned char *)text;
  while (n) {
    size_t len = ls_text_char(s, n);
    if (!len)
      printf(json ? "\\u%04x" : "\\x%02x", *s);
    else if (json && (*s == '"' || *s == '\\'))
      printf("\\%c", *s);
    else
      fwrite(s, 1, len, stdout);
    len = len ? len : 1;
    s += len;
    n -= len;
  }
}

static void print_string(const char *s, int json)
{
  if (s)
    print_bytes(s, strlen(s), json);
}

/* The columns of the terminal that is printed to; 0: it is none. */
static size_t terminal_columns(void)
{
  struct winsize w;
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0)
    return 0;
  return w.ws_col;
}

/* Prints text of which the middle is left out if there is not ROOM for it. */
static void print_cut(const char *s, size_t n, size_t room)
{
  size_t head = room > 2 ? (room - 2) / 3 : 0, tail;
  if (n <= room) {
    print_bytes(s, n, 0);
    return;
  }
  tail = room > 2 ? n - (room - 2 - head) : n;
  while (head > 0 && ((unsigned char)s[head] & 0xc0) == 0x80)
    head--;
  while (tail < n && ((unsigned char)s[tail] & 0xc0) == 0x80)
    tail++;
  print_bytes(s, head, 0);
  print_string("..", 0);
  print_bytes(s + tail, n - tail, 0);
}

#define SHORT 60 /* Bytes of a chunk's source that are printed. */

/* A chunk's name: of a file its path, of a string how it begins. */
static void print_chunk(const char *s, size_t n, int json)
{
  const char *nl;
  if (n && (*s == '@' || *s == '=')) {
    print_bytes(s + 1, n - 1, json);
    return;
  }
  nl = memchr(s, '\n', n);
  print_string("[string \"", json);
  print_bytes(s, nl ? (size_t)(nl - s) : n < SHORT ? n : SHORT, json);
  print_string(nl || n > SHORT ? "...\"]" : "\"]", json);
}

/* -- Threads -------------------------------------------------------------- */

/* What the kernel says of a thread. */
typedef struct State {
  char name[32];
  char letter;    /* As in /proc. */
  char where[64]; /* The kernel's function in which it waits, or "". */
} State;

/* Reads the function of the kernel in which a thread waits, or "". */
static void read_where(pid_t pid, uint32_t tid, char *where, size_t size)
{
  char path[64];
  FILE *f;
  int got;
  *where = '\0';
  snprintf(path, sizeof(path), "/proc/%d/task/%u/wchan", (int)pid, tid);
  f = fopen(path, "re");
  if (!f)
    return;
  got = fgets(where, (int)size, f) != NULL;
  fclose(f);
  where[strcspn(where, "\n")] = '\0';
  if (!got || strcmp(where, "0") == 0)
    *where = '\0';
}

static void read_state(const LsOnceThread *th, State *s)
{
  char path[64], buf[LS_PROCSTAT_SIZE];
  const char *state;
  pid_t pid = th->target->pid;
  memset(s, 0, sizeof(*s));
  ls_target_name(pid, (pid_t)th->now.tid, s->name, sizeof(s->name));
  s->letter = th->ran ? 'R' : '?';
  if (th->ran)
    return;
  snprintf(path, sizeof(path), "/proc/%d/task/%u/stat", (int)pid, th->now.tid);
  state = ls_procstat(path, buf);
  if (state)
    s->letter = *state;
  read_where(pid, th->now.tid, s->where, sizeof(s->where));
}

static const char *state_name(const LsOnceThread *th, char letter)
{
  switch (letter) {
  case 'R':
    return th->ran ? "running" : "waiting for a CPU";
  case 'S':
    return "sleeping";
  case 'D':
    return "waiting for a device";
  case 'T':
    return "stopped";
  case 't':
    return "stopped by a debugger";
  default:
    return "in an unknown state";
  }
}

/* Why there is no stack. */
static const char *why_missing(const LsOnceThread *th)
{
  return th->now.running ? "it ran, but no clock of a CPU met it"
                         : "it ran and slept too often";
}

/* -- Frames --------------------------------------------------------------- */

/* Whether a site is printed. */
static int is_wanted(const LsOnce *o, const LsSite *s)
{
  return s->kind == LS_LUA || s->kind == LS_BUILTIN || s->kind == LS_CFUNC ||
         o->s->opt->native;
}

static const char *function_of(const LsSite *s)
{
  if (s->name && *s->name)
    return s->name;
  if (s->kind == LS_LUA)
    return s->first ? "(function)" : "(main chunk)";
  return s->kind == LS_CFUNC && s->symbol && *s->symbol ? s->symbol : "?";
}

static uint64_t line_of(const LsSite *s)
{
  return s->line ? s->line : s->first;
}

/* Prints where a site without a Lua line is. */
static void print_module(const LsOnce *o, const LsSite *s)
{
  const LsModule *m = ls_modules_find(o->s->modules, s->module);
  const char *base;
  if (s->kind == LS_KERNEL) {
    printf("[kernel]");
  } else if (s->kind == LS_NATIVE && m) {
    base = strrchr(m->path, '/');
    print_string(base ? base + 1 : m->path, 0);
    if (!s->name || !*s->name)
      printf("+0x%llx", (unsigned long long)s->addr);
  } else if (s->kind == LS_NATIVE) {
    printf("0x%llx", (unsigned long long)s->addr);
  } else if (s->kind != LS_MARK) {
    printf("[C]");
  }
}

#define NAME_WIDTH 24 /* Columns of a function's name. */
#define LINE_WIDTH 10 /* Columns that a line's number may need. */

/* Prints a frame. On a terminal a line is as wide as that: the name has at most
** a half of it, and a file what is left.
*/
static void print_frame(const LsOnce *o, const LsSite *s)
{
  const char *name = function_of(s);
  size_t columns = terminal_columns(), n = strlen(name), most = n, room;
  if (columns && most > columns / 2 && columns / 2 > NAME_WIDTH)
    most = columns / 2;
  room = most > NAME_WIDTH ? most : NAME_WIDTH;
  printf("  ");
  print_cut(name, n, most);
  printf("%*s ", most < NAME_WIDTH ? (int)(NAME_WIDTH - most) : 1, "");
  if (s->kind == LS_LUA && s->chunklen &&
      (*s->chunk == '@' || *s->chunk == '=') &&
      columns > room + 2 * LINE_WIDTH) {
    print_cut(s->chunk + 1, s->chunklen - 1, columns - room - LINE_WIDTH - 4);
  } else if (s->kind == LS_LUA) {
    print_chunk(s->chunk, s->chunklen, 0);
  } else {
    print_module(o, s);
  }
  if (s->kind == LS_LUA)
    printf(":%s%llu", s->flags & LS_APPROX ? "~" : "",
           (unsigned long long)line_of(s));
  printf("\n");
}

static void print_json_frame(const LsSite *s)
{
  static const char *const kind[] = {"lua",    "builtin", "c",
                                     "native", "kernel",  "gap"};
  printf("{\"kind\":\"%s\",\"function\":\"", kind[s->kind]);
  print_string(s->name && *s->name ? s->name : s->symbol, 1);
  printf("\"");
  if (s->kind == LS_LUA) {
    printf(",\"chunk\":\"");
    print_chunk(s->chunk, s->chunklen, 1);
    printf("\",\"line\":%llu,\"defined\":%llu,\"compiled\":%s",
           (unsigned long long)line_of(s), (unsigned long long)s->first,
           s->flags & LS_TRACE ? "true" : "false");
  } else if (s->kind == LS_NATIVE || s->kind == LS_KERNEL) {
    printf(",\"address\":%llu", (unsigned long long)s->addr);
  }
  printf("}");
}

/* Prints the frames that are wanted, innermost first. Returns their number. */
static size_t print_frames(const LsOnce *o, const uint32_t *site, size_t n)
{
  size_t printed = 0;
  while (n--) {
    const LsSite *s = ls_sitetable_get(o->s->resolver.sites, site[n]);
    if (!s || !is_wanted(o, s))
      continue;
    if (o->s->opt->json) {
      printf("%s", printed ? "," : "");
      print_json_frame(s);
    } else {
      print_frame(o, s);
    }
    printed++;
  }
  return printed;
}

/* -- A thread, a process -------------------------------------------------- */

static void print_text(const LsOnce *o, const LsOnceThread *th,
                       const uint32_t *site, size_t n, uint32_t cut)
{
  State st;
  read_state(th, &st);
  printf("\nthread %u ", th->now.tid);
  print_string(st.name, 0);
  printf(": %s", state_name(th, st.letter));
  if (st.where[0]) {
    printf(" in ");
    print_string(st.where, 0);
  }
  if (!th->done)
    printf("; no stack: %s", why_missing(th));
  else if (!th->stack->nlua)
    printf("; no Lua");
  printf("\n");
  print_frames(o, site, n);
  if (cut != LJS_CUT_NOT)
    printf("  (not complete: %s)\n", ls_cut_name(cut));
}

static void print_json(const LsOnce *o, const LsOnceThread *th,
                       const uint32_t *site, size_t n, uint32_t cut)
{
  State st;
  read_state(th, &st);
  printf("{\"tid\":%u,\"name\":\"", th->now.tid);
  print_string(st.name, 1);
  printf("\",\"state\":\"%s\",\"in\":\"", state_name(th, st.letter));
  print_string(st.where, 1);
  printf("\",");
  if (!th->done)
    printf("\"error\":\"%s\",", why_missing(th));
  else if (cut != LJS_CUT_NOT)
    printf("\"incomplete\":\"%s\",", ls_cut_name(cut));
  printf("\"stack\":[");
  print_frames(o, site, n);
  printf("]}");
}

static void print_thread(const LsOnce *o, const LsOnceThread *th, int first)
{
  static uint32_t site[LS_SITES_MAX];
  uint32_t cut = LJS_CUT_NOT;
  size_t n = 0;
  if (th->done) {
    n = ls_session_sites(o->s, th->target, th->stack, site);
    cut = ls_resolve_cut(&o->s->resolver, th->stack->cut, site, n);
  }
  if (!o->s->opt->json) {
    print_text(o, th, site, n, cut);
    return;
  }
  printf("%s", first ? "" : ",");
  print_json(o, th, site, n, cut);
}

/* Prints what comes before the threads. */
static void print_head(const LsOnce *o, const LsTarget *t, int first)
{
  size_t i, all = 0, lua = 0;
  for (i = 0; i < o->n; i++) {
    const LsOnceThread *th = &o->thread[i];
    all += th->target == t && !th->gone;
    lua += th->target == t && th->done && th->stack->nlua;
  }
  if (o->s->opt->json) {
    printf("%s{\"pid\":%d,\"command\":\"", first ? "" : ",", (int)t->pid);
    print_string(t->command, 1);
    printf("\",\"threads\":[");
    return;
  }
  printf("%sprocess %d (", first ? "" : "\n", (int)t->pid);
  print_string(t->command, 0);
  printf("): %zu thread%s, %zu in Lua\n", all, all == 1 ? "" : "s", lua);
}

size_t ls_once_print(const LsOnce *o, LsTarget *t, int first)
{
  size_t i, printed = 0, missing = 0;
  print_head(o, t, first);
  for (i = 0; i < o->n; i++) {
    const LsOnceThread *th = &o->thread[i];
    if (th->target != t || (th->gone && !th->done))
      continue;
    print_thread(o, th, printed++ == 0);
    missing += !th->done;
  }
  if (o->s->opt->json)
    printf("]}");
  return missing;
}
