/*
** The command of a run: it waits until lj-sysprof samples it, and runs in our
** place in the foreground: it has our terminal, and signals of the terminal
** come to it by themselves. Those that are sent to us are passed on.
*/

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "program.h"
#include "run.h"

struct FtRecording {
  FtRun *run;
  pid_t pid;    /* The command. */
  int go;       /* Closed without a byte, it does not run. */
  int failed;   /* An errno comes if it cannot be executed. */
  int signals;  /* Of all that are passed on. */
  sigset_t own; /* Our signal mask, as it was. */
  FtChild sampler;
  LpBuf err; /* What the sampler has said. */
  int ended; /* The command has. */
  int drawn; /* There is a line of progress. */
  time_t start;
};

/* -- The command ---------------------------------------------------------- */

/* In the child: waits, then executes the command. */
static _Noreturn void become(const FtRecording *r, int go, int failed)
{
  char byte;
  ssize_t n;
  do
    n = read(go, &byte, 1);
  while (n < 0 && errno == EINTR);
  if (n != 1)
    _exit(FT_EXIT_NOTHING);
  close(go);
  ft_environment_set(r->run);
  ft_user_become(&r->run->user);
  sigprocmask(SIG_SETMASK, &r->own, NULL);
  execvp(r->run->command[0], r->run->command);
  if (write(failed, &errno, sizeof(errno)) < 0)
    _exit(126);
  _exit(127);
}

static int fork_command(FtRecording *r)
{
  int go[2], failed[2];
  if (pipe2(go, O_CLOEXEC))
    return ft_fail("%s", strerror(errno));
  if (pipe2(failed, O_CLOEXEC)) {
    close(go[0]);
    close(go[1]);
    return ft_fail("%s", strerror(errno));
  }
  fflush(stdout);
  r->pid = fork();
  if (r->pid == 0) {
    close(go[1]);
    close(failed[0]);
    become(r, go[0], failed[1]);
  }
  close(go[0]);
  close(failed[1]);
  r->go = go[1];
  r->failed = failed[0];
  return r->pid < 0 ? ft_fail("cannot fork: %s", strerror(errno)) : 0;
}

/* Lets it run. Returns 0 or the errno of execvp. */
static int let_go(FtRecording *r)
{
  int err = 0;
  ssize_t n = write(r->go, "", 1);
  close(r->go);
  r->go = -1;
  n = n == 1 ? read(r->failed, &err, sizeof(err)) : 0;
  close(r->failed);
  r->failed = -1;
  return n == sizeof(err) ? err : 0;
}

/* Ends one that does not run yet. */
static void call_off(FtRecording *r)
{
  close(r->go);
  close(r->failed);
  waitpid(r->pid, NULL, 0);
}

/* -- Signals -------------------------------------------------------------- */

static const int passed[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                             SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

static int open_signals(FtRecording *r)
{
  sigset_t set;
  size_t i;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (i = 0; i < sizeof(passed) / sizeof(*passed); i++)
    sigaddset(&set, passed[i]);
  sigprocmask(SIG_BLOCK, &set, &r->own);
  r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  return r->signals < 0 ? ft_fail("%s", strerror(errno)) : 0;
}

static void close_signals(FtRecording *r)
{
  struct signalfd_siginfo si;
  while (read(r->signals, &si, sizeof(si)) == sizeof(si))
    ; /* Those that ended the command are done with. */
  close(r->signals);
  sigprocmask(SIG_SETMASK, &r->own, NULL);
}

/* Has the command ended? It stays there until lj-sysprof has seen that. */
static int has_ended(const FtRecording *r)
{
  siginfo_t si = {0};
  return waitid(P_PID, (id_t)r->pid, &si, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         si.si_pid == r->pid;
}

static void on_signal(FtRecording *r)
{
  struct signalfd_siginfo si;
  while (read(r->signals, &si, sizeof(si)) == sizeof(si)) {
    if (si.ssi_signo == SIGCHLD)
      r->ended = has_ended(r);
    else if (si.ssi_code != SI_KERNEL && !r->ended)
      kill(r->pid, (int)si.ssi_signo);
  }
}

/* -- lj-sysprof ----------------------------------------------------------- */

#define ERR_MAX 4096 /* Bytes of its messages that are kept. */

/* Reads what it says. Returns 0 at the end. */
static int read_messages(FtRecording *r)
{
  char part[1024];
  ssize_t n = read(r->sampler.err, part, sizeof(part));
  if (n > 0 && r->err.n < ERR_MAX)
    lp_buf_add(&r->err, part, (size_t)n);
  return n > 0 || (n < 0 && errno == EINTR);
}

/* The first line that it has said, without the name of who says it. */
static const char *first_message(FtRecording *r)
{
  char *s = r->err.s, *nl = s ? strchr(s, '\n') : NULL, *colon;
  if (nl)
    *nl = '\0';
  colon = s ? strstr(s, ": ") : NULL;
  if (colon && !memchr(s, ' ', (size_t)(colon - s)))
    s = colon + 2;
  return s && *s ? s : "lj-sysprof has ended";
}

/* CPU time is not sampled. */
static void no_sampler(FtRecording *r)
{
  while (r->sampler.err >= 0 && read_messages(r))
    ;
  ft_end(&r->sampler);
  r->run->cpu = 0;
  ft_fail("CPU time is left out: %s", first_message(r));
  lp_buf_free(&r->err);
}

/* Waits until it samples, or has ended. Returns 1 if it does. */
static int await_sampler(FtRecording *r)
{
  char line[64];
  while (!r->ended) {
    struct pollfd p[] = {{r->sampler.out, POLLIN, 0},
                         {r->sampler.err, POLLIN, 0},
                         {r->signals, POLLIN, 0}};
    if (poll(p, 3, -1) < 0)
      continue;
    if (p[2].revents)
      on_signal(r);
    if (p[1].revents & POLLIN)
      read_messages(r);
    if (p[0].revents)
      return read(r->sampler.out, line, sizeof(line)) > 0;
  }
  return 0;
}

static void start_sampler(FtRecording *r)
{
  static char program[] = "lj-sysprof", quiet[] = "-q", o[] = "-o";
  char pid[16], hz[16], expect[PATH_MAX + 16];
  LpBuf file = {0};
  char *args[] = {program, quiet, hz, pid, expect, o, NULL, NULL};
  lp_buf_printf(&file, "%s/cpu.ljp", r->run->place.whole.s);
  args[6] = file.s;
  snprintf(pid, sizeof(pid), "-p%d", (int)r->pid);
  snprintf(hz, sizeof(hz), "-F%u", r->run->hz);
  snprintf(expect, sizeof(expect), "--expect=%s", r->run->host.inner);
  if (ft_start(&r->sampler, args))
    r->run->cpu = 0;
  else if (!await_sampler(r))
    no_sampler(r);
  lp_buf_free(&file);
}

/* Lets it write its profile. */
static void end_sampler(FtRecording *r)
{
  int status;
  if (!r->run->cpu)
    return;
  kill(r->sampler.pid, SIGTERM);
  while (r->sampler.err >= 0 && read_messages(r))
    ;
  status = ft_end(&r->sampler);
  if (status) {
    r->run->cpu = 0;
    ft_fail("there is no CPU profile: %s", first_message(r));
  } else if (r->err.n) {
    fputs(r->err.s, stderr);
  }
  lp_buf_free(&r->err);
}

/* -- Progress ------------------------------------------------------------- */

/* A line on the terminal, unless the command writes there. */
static void draw(FtRecording *r)
{
  if (!isatty(STDERR_FILENO) || isatty(STDOUT_FILENO))
    return;
  fprintf(stderr, "\r%ld s, %.1f MB recorded\033[K",
          (long)(time(NULL) - r->start),
          (double)ft_place_bytes(&r->run->place) / 1e6);
  fflush(stderr);
  r->drawn = 1;
}

static void erase(FtRecording *r)
{
  if (r->drawn)
    fputs("\r\033[K", stderr);
  r->drawn = 0;
}

/* Waits for the command's end. */
static void await_command(FtRecording *r)
{
  r->start = time(NULL);
  r->ended = has_ended(r);
  while (!r->ended) {
    struct pollfd p[] = {
        {r->signals, POLLIN, 0},
        {r->run->cpu ? r->sampler.err : -1, POLLIN, 0},
    };
    int n = poll(p, 2, 1000);
    if (n > 0 && p[0].revents)
      on_signal(r);
    if (n > 0 && p[1].revents && !read_messages(r)) {
      close(r->sampler.err);
      r->sampler.err = -1;
    }
    if (n == 0)
      draw(r);
  }
  erase(r);
}

/* -- All of it ------------------------------------------------------------ */

/* Its exit status. */
static int take_status(const FtRecording *r)
{
  int status = 0;
  pid_t pid;
  do
    pid = waitpid(r->pid, &status, 0);
  while (pid < 0 && errno == EINTR);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

FtRecording *ft_record_prepare(FtRun *run)
{
  FtRecording *r = lp_zalloc(1, sizeof(*r));
  *r = (FtRecording){.run = run, .sampler = {0, -1, -1}, .failed = -1};
  if (open_signals(r) || fork_command(r)) {
    free(r);
    return NULL;
  }
  if (run->cpu)
    start_sampler(r);
  if ((run->cpu || run->memory) && !r->ended)
    return r;
  call_off(r);
  end_sampler(r);
  close_signals(r);
  free(r);
  return NULL;
}

int ft_record_run(FtRecording *r, int *started)
{
  FtRun *run = r->run;
  int err = let_go(r), status;
  *started = !err;
  if (!err)
    await_command(r);
  else
    ft_fail("cannot run %s: %s", run->command[0], strerror(err));
  if (err && run->cpu) { /* There is nothing to be said of it. */
    ft_end(&r->sampler);
    run->cpu = 0;
  }
  end_sampler(r);
  status = take_status(r);
  close_signals(r);
  free(r);
  return err ? (err == ENOENT ? 127 : 126) : status;
}
