/*
** lj-sysprof: options, events, progress, exit status.
*/

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "begins.h"
#include "capable.h"
#include "command.h"
#include "expect.h"
#include "look.h"
#include "matching.h"
#include "once.h"
#include "outfile.h"
#include "pids.h"
#include "priority.h"
#include "privilege.h"
#include "rlimit.h"
#include "say.h"
#include "session.h"
#include "tick.h"
#include "timedread.h"

typedef struct Main {
  LsOptions opt;
  LsSession s;
  LsCommand command;
  int epoll, signals, timer;
  LsOutfile out;
  int done;
  int signo;   /* The signal that ended it, or 0. */
  int refused; /* A VM was rejected. */
  int failed;  /* The file could not be renamed. */
  int kept;    /* The file has been renamed. */
} Main;

/* -- Preparing ------------------------------------------------------------ */

static int open_output(Main *m)
{
  struct utsname un;
  struct timespec rt;
  struct stat ns;
  LsStreamInfo info = {
      .producer = "ljprof sysprof " LJPROF_VERSION,
      .event = ls_event_name[m->opt.sampler.event],
      .arch = "x64",
      .options = m->opt.line,
      .hz = m->opt.sampler.hz,
      .pid = m->opt.npid == 1 ? (uint64_t)m->opt.pid[0] : 0,
  };
  LsFolded folded = {m->opt.threads, m->opt.all || m->opt.npid > 1,
                     m->opt.native, m->opt.every};
  LsSession *s = &m->s;
  char why[256];
  if (ls_outfile_open(&m->out, m->opt.file, why, sizeof(why)))
    return ls_fail("cannot write to %s: %s", m->opt.file, why);
  uname(&un);
  clock_gettime(CLOCK_REALTIME, &rt);
  info.kernel = un.release;
  info.host = un.nodename;
  info.pidns = stat("/proc/self/ns/pid", &ns) ? 0 : ns.st_ino;
  info.realtime = (uint64_t)rt.tv_sec * 1000000000 + (uint64_t)rt.tv_nsec;
  info.monotonic = ls_session_now();
  if (m->opt.sampler.event != LS_EVENT_CYCLES)
    info.period_ns = 1000000000 / m->opt.sampler.hz;
  s->output =
      m->opt.folded
          ? ls_output_folded(m->out.fd, s->resolver.sites, s->modules, &folded)
          : ls_output_stream(m->out.fd, s->resolver.sites, s->modules, &info);
  return s->output ? 0 : ls_fail("out of memory");
}

/* A sample of a deep stack takes some 20 us: at 100,000 a second the CPUs would
** do nothing else, and this program could not end it.
*/
#define HZ_MAX 20000

/* With -e tick, there is at most one sample for each tick. */
static int limit_rate(Main *m)
{
  unsigned hz = ls_tick_hz();
  if (m->opt.sampler.event != LS_EVENT_TICK) {
    if (m->opt.sampler.hz > HZ_MAX) {
      ls_say("-F %u leaves no time for the programs: it is %u",
             m->opt.sampler.hz, HZ_MAX);
      m->opt.sampler.hz = HZ_MAX;
    }
    return 0;
  }
  if (!hz)
    return ls_fail("this kernel's tick is no timer of high resolution: leave "
                   "out -e tick");
  if (m->opt.sampler.hz > hz) {
    ls_say("the kernel's tick is %u a second: that many samples are taken", hz);
    m->opt.sampler.hz = hz;
  }
  return 0;
}

/* Hands a module's tables to the BPF program, and to that in user space. */
static int hand_tables(void *ctx, uint32_t id, const struct ljs_row *row,
                       size_t n, const struct ljs_vm *vm)
{
  LsSession *s = ctx;
  if (s->walk && ls_userwalk_module(s->walk, id, row, n, vm))
    return -1;
  return ls_sampler_module(s->sampler, id, row, n, vm);
}

static void drop_tables(void *ctx, uint32_t id)
{
  LsSession *s = ctx;
  ls_sampler_drop(s->sampler, id);
}

static int open_session(Main *m)
{
  LsSession *s = &m->s;
  char why[256];
  s->opt = &m->opt;
  if (limit_rate(m))
    return -1;
  m->opt.sampler.strangers = m->opt.all;
  s->sampler = ls_sampler_open(&m->opt.sampler, why, sizeof(why));
  if (!s->sampler)
    return ls_fail("%s", why);
  if (!m->opt.sampler.once && ls_begins_open(s, why, sizeof(why)))
    return ls_fail("cannot watch processes: %s", why);
  s->walk = m->opt.sampler.once ? ls_userwalk_open() : NULL;
  s->modules = ls_modules_open(hand_tables, drop_tables, s, s->parser);
  s->resolver.modules = s->modules;
  s->resolver.sites = ls_sitetable_open();
  if (!s->modules || !s->resolver.sites || (m->opt.sampler.once && !s->walk))
    return ls_fail("out of memory");
  if (m->opt.sampler.kernel) {
    s->resolver.kernel = ls_kallsyms_open(NULL);
    if (!s->resolver.kernel)
      ls_say("no names of kernel functions: %s",
             errno == EPERM ? "sysctl kernel.kptr_restrict hides them"
                            : strerror(errno));
  }
  return 0;
}

static int add_targets(Main *m)
{
  if (m->opt.command) {
    ls_expect_command(m->s.modules, m->opt.command);
    if (ls_command_fork(&m->command, m->opt.command))
      return ls_fail("cannot fork: %s", strerror(errno));
    return ls_session_add(&m->s, m->command.pid)
               ? 0
               : ls_fail("process %d: %s", (int)m->command.pid,
                         strerror(errno));
  }
  if (m->opt.all) {
    if (!ls_capable_reads())
      ls_say("without CAP_SYS_PTRACE other processes cannot be read");
    ls_session_find_all(&m->s);
    return 0;
  }
  if (m->opt.expect)
    ls_expect(m->s.modules, m->opt.expect);
  return ls_pids_add(&m->s);
}

/* -- Events --------------------------------------------------------------- */

static void poll_fd(Main *m, int fd)
{
  struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};
  epoll_ctl(m->epoll, EPOLL_CTL_ADD, fd, &ev);
}

#define TURN_NS 500000000 /* Between two turns of the tables. */

static int open_events(Main *m)
{
  struct itimerspec it = {{0, TURN_NS}, {0, TURN_NS}};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGCHLD);
  if (signal(SIGHUP, SIG_DFL) == SIG_IGN) /* Of nohup. */
    signal(SIGHUP, SIG_IGN);
  else
    sigaddset(&set, SIGHUP);
  sigprocmask(SIG_BLOCK, &set, NULL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  m->epoll = epoll_create1(EPOLL_CLOEXEC);
  m->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  m->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (m->epoll < 0 || m->signals < 0 || m->timer < 0 ||
      timerfd_settime(m->timer, 0, &it, NULL))
    return ls_fail("cannot wait for events: %s", strerror(errno));
  poll_fd(m, m->signals);
  poll_fd(m, m->timer);
  poll_fd(m, ls_sampler_fd(m->s.sampler));
  poll_fd(m, ls_watch_fd(m->s.watch));
  return 0;
}

static void on_signal(Main *m)
{
  struct signalfd_siginfo si;
  while (read(m->signals, &si, sizeof(si)) == sizeof(si)) {
    if (si.ssi_signo == SIGCHLD) {
      if (ls_command_wait(&m->command, 0))
        m->done = 1;
    } else {
      m->done = 1;
      m->signo = (int)si.ssi_signo;
    }
  }
}

/* Renames the file once it contains a sample of a LuaJIT. */
static void keep_output(Main *m)
{
  char why[512];
  if (m->kept || m->failed || m->refused || !m->s.output->written ||
      !(m->s.found || m->opt.any))
    return;
  m->kept = 1;
  if (ls_outfile_keep(&m->out, why, sizeof(why)))
    m->failed = ls_fail("%s: %s", m->opt.file, why);
}

/* Milliseconds until the end of -d; -1: there is none. */
static int time_left(const Main *m)
{
  double left;
  if (m->opt.seconds <= 0)
    return -1;
  left = m->opt.seconds - (double)(ls_session_now() - m->s.start) / 1e9;
  return left <= 0 ? 0 : left > 1000 ? 1000000 : (int)ceil(left * 1000);
}

/* Whether a signal says to end. */
static int is_stopped(void)
{
  sigset_t set;
  return sigpending(&set) == 0 &&
         (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1 ||
          sigismember(&set, SIGHUP) == 1);
}

/* While files are read: see LsParserIdle. */
static int while_reading(void *ctx)
{
  Main *m = ctx;
  ls_session_collect(&m->s);
  return (m->s.start && time_left(m) == 0) || ls_look_early(&m->s) ||
         is_stopped();
}

/* Milliseconds until something is to be done without an event; -1: nothing. */
static int time_to_wait(const Main *m)
{
  int left = time_left(m);
  uint64_t due = ls_look_next(&m->s), begins = ls_begins_next(&m->s);
  uint64_t now = ls_session_now();
  if (begins < due)
    due = begins;
  if (due == UINT64_MAX)
    return left;
  due = due > now ? (due - now + 999999) / 1000000 : 0;
  return left >= 0 && (uint64_t)left < due ? left : (int)due;
}

static int is_over(const void *ctx)
{
  return time_left(ctx) == 0;
}

/* Notes which processes have ended. */
static void look_for_ends(Main *m)
{
  LsSession *s = &m->s;
  size_t i, running = 0;
  for (i = 0; i < s->ntarget; i++) {
    LsTarget *t = s->target[i];
    if (t->gone)
      continue;
    if (ls_target_ended(t))
      ls_session_gone(s, t);
    else
      running++;
  }
  if (!running && !m->opt.all && !m->opt.command)
    m->done = 1;
}

static void show_progress(const Main *m)
{
  uint64_t count[LJS_STATISTICS];
  ls_sampler_statistics(m->s.sampler, count);
  ls_say_progress("%.0f s, %llu samples, %u stacks",
                  (double)(ls_session_now() - m->s.start) / 1e9,
                  (unsigned long long)count[LJS_FIRED], m->s.stacks.table.n);
}

static void on_timer(Main *m)
{
  uint64_t n;
  if (read(m->timer, &n, sizeof(n)) != sizeof(n))
    return;
  ls_session_turn(&m->s);
  keep_output(m);
  if (m->failed || m->s.output->err)
    m->done = 1;
  ls_session_cpu(&m->s);
  look_for_ends(m);
  show_progress(m);
}

/* The program that starts when we are ready, or NULL. */
static const char *program(const Main *m)
{
  return m->opt.command ? m->opt.command[0] : m->opt.expect;
}

/* A VM was rejected. Without others there is nothing to sample. */
static void on_doubt(Main *m)
{
  LsSession *s = &m->s;
  ls_fail(
      "process %d (%s): its LuaJIT is not as its code says: %s; no Lua frames "
      "of it are recorded",
      (int)s->doubt->pid, s->doubt->command, s->why);
  s->doubt = NULL;
  if (!m->opt.any && !m->opt.all && !program(m)) {
    m->done = 1;
    m->refused = 1;
  }
}

static void run(Main *m)
{
  struct epoll_event ev[8];
  while (!m->done) {
    int n, i;
    if (time_left(m) == 0)
      break;
    n = epoll_wait(m->epoll, ev, 8, time_to_wait(m));
    for (i = 0; i < n; i++) {
      int fd = ev[i].data.fd;
      if (fd == m->signals)
        on_signal(m);
      else if (fd == m->timer)
        on_timer(m);
      else if (fd == ls_watch_fd(m->s.watch))
        ls_begins_read(&m->s);
      else
        ls_session_take(&m->s);
    }
    ls_begins_due(&m->s);
    ls_look_due(&m->s, is_over, m);
    if (m->s.doubt)
      on_doubt(m);
  }
}

/* -- The end -------------------------------------------------------------- */

/* The command could not be started: there is nothing to report. */
static int no_command(Main *m)
{
  int err = m->command.ended ? ls_command_failed(&m->command) : 0;
  if (err)
    ls_fail("cannot run %s: %s", m->opt.command[0], strerror(err));
  return err;
}

/* Writes the rest. Returns -1 if the profile is incomplete. */
static int end_output(Main *m)
{
  LsOutput *o = m->s.output;
  LsStatistic stats[LS_STATISTICS_MAX + LS_REFUSED_PAIRS];
  size_t n = ls_statistics_list(&m->s.stats, stats);
  n += ls_refused_list(&m->s.refused, stats + n);
  o->end(o, stats, n);
  keep_output(m);
  if (o->err)
    return ls_fail("%s: %s", m->opt.file, strerror(o->err));
  return m->failed ? -1 : 0;
}

/* Passes a signal on to the command, or notes that it has ended. One that does
** not end by the first is killed by the second.
*/
static void next_signal(Main *m)
{
  struct signalfd_siginfo si;
  struct pollfd p = {m->signals, POLLIN, 0};
  poll(&p, 1, -1);
  while (read(m->signals, &si, sizeof(si)) == sizeof(si)) {
    if (ls_command_wait(&m->command, 0) || si.ssi_signo == SIGCHLD)
      continue;
    kill(m->command.pid, m->signo ? SIGKILL : (int)si.ssi_signo);
    m->signo = (int)si.ssi_signo;
  }
}

/* Waits for the command; a signal to us is for it, too. */
static int end_command(Main *m)
{
  if (m->signo && !ls_command_wait(&m->command, 0))
    kill(m->command.pid, m->signo);
  while (!ls_command_wait(&m->command, 0))
    next_signal(m);
  return m->command.status;
}

/* Is there a profile of the program? */
static int has_profile(const Main *m)
{
  if (!m->s.stats.fired)
    ls_fail("%s ended before the first sample; nothing was written",
            program(m));
  else if (!m->s.found && !m->opt.any)
    ls_fail("no LuaJIT was seen in %s before it ended; nothing was written",
            program(m));
  else
    return 1;
  return 0;
}

/* The exit status with a command: its own, if sampling succeeded. */
static int after_command(Main *m, int status)
{
  int own = end_command(m);
  if (!own && !has_profile(m))
    return LS_EXIT_NOTHING;
  return status ? status : own;
}

/* All is open. What is read from here on needs less. */
static void drop_privileges(const Main *m)
{
  ls_timedread_end();
  if (ls_privilege_drop(m->out.dir, m->opt.command != NULL))
    ls_say("cannot give up privileges: %s", strerror(errno));
}

/* Is there a file that is not kept? For a command without LuaJIT, and for
** --comm and --cgroup, another message says so.
*/
static void say_dropped(const Main *m)
{
  int by_command = m->opt.expect ||
                   (m->opt.command && m->command.ended && !m->command.status);
  int told = (!m->s.found && !m->opt.any &&
              (m->opt.comm || m->opt.cgroup || by_command)) ||
             (by_command && !m->s.stats.fired);
  if (!m->kept && !m->failed && m->out.temp[0] && !told)
    ls_say("%s was not written", m->opt.file);
}

static int sample(Main *m)
{
  char why[256];
  int status = 0;
  if (open_session(m) || open_events(m) || add_targets(m) || open_output(m))
    return LS_EXIT_NOTHING;
  if (ls_sampler_start(m->s.sampler, why, sizeof(why))) {
    ls_fail("%s", why);
    return LS_EXIT_NOTHING;
  }
  ls_session_begin(&m->s);
  drop_privileges(m);
  if (m->opt.command)
    ls_command_go(&m->command);
  if (m->opt.expect && (puts("sampling") < 0 || fflush(stdout)))
    return LS_EXIT_NOTHING; /* Whoever wanted to know has gone. */
  run(m);
  ls_session_finish(&m->s);
  ls_parser_while(m->s.parser, NULL, NULL); /* Time is not up any more. */
  if (no_command(m))
    return LS_EXIT_NOTHING;
  if (end_output(m)) {
    if (m->opt.command)
      end_command(m);
    return LS_EXIT_NOTHING;
  }
  say_dropped(m);
  if ((m->s.found || m->opt.any) && (m->s.stats.fired || !program(m)))
    ls_statistics_say(&m->s.stats, m->opt.sampler.event == LS_EVENT_CYCLES
                                       ? 0
                                       : m->opt.sampler.hz);
  if (m->opt.sampler.verbose)
    ls_say("woken for %llu samples", (unsigned long long)m->s.stats.woken);
  if (m->opt.strict >= 0 && ls_statistics_missed(&m->s.stats) > m->opt.strict)
    status = LS_EXIT_STRICT;
  if (!m->s.found && (m->opt.comm || m->opt.cgroup)) {
    ls_matching_nothing(&m->opt, m->s.modules);
    status = LS_EXIT_NOTHING;
  }
  if (m->refused)
    status = LS_EXIT_NOTHING;
  if (m->opt.expect && !m->refused && !has_profile(m))
    status = LS_EXIT_NOTHING;
  return m->opt.command ? after_command(m, status) : status;
}

/* With --once: the stacks of all threads, now. */
static int sample_once(Main *m)
{
  char why[256];
  if (open_session(m) || add_targets(m))
    return LS_EXIT_NOTHING;
  if (ls_sampler_start(m->s.sampler, why, sizeof(why))) {
    ls_fail("%s", why);
    return LS_EXIT_NOTHING;
  }
  drop_privileges(m);
  return ls_once(&m->s);
}

#define FILES (LS_TARGETS_MAX + 1024) /* One of each process; and BPF's. */

int main(int argc, char **argv)
{
  static Main m = {.out = {.fd = -1, .dir = -1}};
  int status;
  ls_options_parse(&m.opt, argc, argv);
  ls_say_open(m.opt.quiet);
  m.s.parser = ls_parser_start();
  if (!m.s.parser) {
    ls_fail("cannot confine the process that reads files: %s", strerror(errno));
    return LS_EXIT_NOTHING;
  }
  ls_parser_while(m.s.parser, while_reading, &m);
  ls_rlimit_raise(FILES);
  ls_priority_raise();
  status = m.opt.sampler.once ? sample_once(&m) : sample(&m);
  if (m.s.output)
    m.s.output->close(m.s.output);
  ls_outfile_close(&m.out);
  ls_session_close(&m.s);
  return status;
}
