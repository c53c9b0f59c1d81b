/*
** The page of a run and its summary, by lj-parse-memprof.
*/

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "program.h"
#include "run.h"

/* The command line of lj-parse-memprof: OPTION, and the recordings. */
static char **line_of(char **option, char **name, size_t n)
{
  static char program[] = "lj-parse-memprof";
  char **args = lp_zalloc(n + 8, sizeof(*args));
  size_t at = 0;
  args[at++] = program;
  while (*option)
    args[at++] = *option++;
  memcpy(args + at, name, n * sizeof(*name));
  return args;
}

/* Runs it. Returns its exit status. */
static int parse(char **args)
{
  int status = 0;
  pid_t pid, got;
  fflush(stdout);
  fflush(stderr);
  pid = fork();
  if (pid == 0)
    _exit(ft_exec(args));
  do
    got = pid > 0 ? waitpid(pid, &status, 0) : -1;
  while (got < 0 && errno == EINTR);
  if (pid < 0)
    return ft_fail("cannot fork: %s", strerror(errno));
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Starts a report as text, meanwhile: only its summary is of interest. */
static void start_summary(FtChild *child, char **name, size_t n)
{
  static char summary[] = "--summary", top[] = "--top=1";
  static char always[] = "--color=always";
  char *option[] = {summary, top, isatty(STDERR_FILENO) ? always : NULL, NULL};
  char **args = line_of(option, name, n);
  if (ft_start(child, args))
    *child = (FtChild){0, -1, -1};
  free(args);
}

/* Prints the sentences of a text: up to an empty line, or of a heap dump, which
** has some of them, up to its first table.
*/
static void print_sentences(FILE *f)
{
  char *text = NULL;
  size_t room = 0;
  int heap = 0, empty = 0, lines;
  for (lines = 0; getline(&text, &room, f) > 0; lines++) {
    if (!lines)
      heap = strstr(text, "HEAP DUMP") != NULL;
    if (*text == '\n' && !heap)
      break;
    if (empty && strstr(text, "TYPES"))
      break;
    if (empty)
      fputs("\n", stderr);
    empty = *text == '\n';
    if (!empty)
      fputs(text, stderr);
  }
  free(text);
}

/* Prints the summary. */
static void print_summary(FtChild *child)
{
  FILE *f = child->out < 0 ? NULL : fdopen(child->out, "r");
  if (!f)
    return;
  print_sentences(f);
  child->out = -1;
  fclose(f);
}

void ft_page_check(const char *page)
{
  size_t n = strlen(page);
  struct stat st;
  if (!n || page[n - 1] == '/' || strcmp(page, "-") == 0)
    ft_usage("PAGE is a file, as app.html, not %s", page);
  if (lstat(page, &st) == 0 && !S_ISREG(st.st_mode))
    ft_usage("%s is no regular file: it is not replaced by a page", page);
}

/* Gives the new page, PART, its name. What has that is kept. */
static int keep_page(const char *part, const char *page)
{
  LpBuf old = {0};
  int err = 0;
  if (renameat2(AT_FDCWD, part, AT_FDCWD, page, RENAME_NOREPLACE) == 0)
    return 0;
  lp_buf_printf(&old, "%s.old", page);
  if (errno != EEXIST || rename(page, old.s) || rename(part, page))
    err = ft_fail("%s: %s; the page is in %s", page, strerror(errno), part);
  lp_buf_free(&old);
  return err;
}

int ft_page_make(const char *page, char **name, size_t n, int quiet)
{
  static char html[] = "--format=html", o[] = "-o";
  LpBuf part = {0};
  char *option[] = {html, o, NULL, NULL}, **args;
  FtChild summary = {0, -1, -1};
  int status;
  lp_buf_printf(&part, "%s.%d.part", page, (int)getpid());
  option[2] = part.s;
  args = line_of(option, name, n);
  if (!quiet)
    start_summary(&summary, name, n);
  status = parse(args);
  free(args);
  if (access(part.s, F_OK) != 0)
    status = status < 0 || !status ? FT_EXIT_NOTHING : status;
  else if (keep_page(part.s, page))
    status = FT_EXIT_NOTHING;
  else
    print_summary(&summary);
  ft_end(&summary);
  lp_buf_free(&part);
  return status;
}

void ft_page_open(const char *page)
{
  static char xdg[] = "xdg-open";
  char *args[] = {xdg, realpath(page, NULL), NULL};
  pid_t pid = fork();
  int status = 0;
  if (pid == 0) {
    int none = open("/dev/null", O_RDWR);
    if (setsid() < 0 || dup2(none, STDIN_FILENO) < 0 ||
        dup2(none, STDOUT_FILENO) < 0)
      _exit(127);
    execvp(xdg, args);
    _exit(127);
  }
  if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
    ft_fail("cannot open %s by xdg-open (Debian package xdg-utils): open it in "
            "a browser",
            page);
  free(args[1]);
}
