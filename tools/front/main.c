/*
** ljprof: commands that run the installed programs.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "nearest.h"
#include "options.h"
#include "program.h"

typedef struct Command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *about;
} Command;

static const Command commands[] = {
    {"control", ft_control,
     "Start, stop or flush a program's memory recording, or dump its heap"},
    {"diff", ft_diff, "What two recordings differ in, as text or a page"},
    {"heap", ft_heap, "Who keeps memory, by a heap dump"},
    {"report", ft_report, "What is in recordings, as text or a page"},
    {"run", ft_run, "Run a command, record memory and CPU time, make a page"},
    {"stacks", ft_stacks, "The Lua stacks of all threads of a process, now"},
    {"top", ft_top, "Lua lines by CPU and memory, live"},
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static void print_help(FILE *f)
{
  size_t i;
  fputs("Usage: ljprof COMMAND [OPTION...]\n"
        "Profile programs in LuaJIT, by lj-sysprof and lj-parse-memprof.\n\n",
        f);
  for (i = 0; i < COMMANDS; i++)
    fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].about);
  fputs("  help       Help of a COMMAND, as ljprof COMMAND --help\n\n"
        "  -?, -h, --help     Print this\n"
        "  -V, --version      Print the version\n\n"
        "Examples:\n"
        "  ljprof run luajit app.lua  its memory and CPU time, as a page\n"
        "  ljprof stacks -p 1234    what does the hung worker do?\n"
        "  ljprof top -p 1234       which lines take its CPU?\n"
        "  ljprof control 1234 stop its memory recording ends\n\n"
        "Exit status: of run that of the command; else 0 done; 1 a part was "
        "got; 2 nothing\ncould be got; 64 usage.\n",
        f);
}

static const Command *find(const char *name)
{
  size_t i;
  for (i = 0; i < COMMANDS; i++)
    if (strcmp(commands[i].name, name) == 0)
      return &commands[i];
  return NULL;
}

/* Is it a number, of a process? */
static int is_number(const char *s)
{
  return *s && !s[strspn(s, "0123456789")];
}

/* There is no command NAME, behind which is ARG, or NULL. */
static int unknown(const char *name, const char *arg)
{
  static const char *const others[] = {"help", "--help", "--version"};
  ClNearest near = cl_nearest(name);
  size_t i;
  for (i = 0; i < COMMANDS; i++)
    cl_nearest_try(&near, commands[i].name);
  for (i = 0; i < sizeof(others) / sizeof(*others); i++)
    cl_nearest_try(&near, others[i]);
  if (is_number(name))
    ft_usage("%s is no command; did you mean ljprof top -p %s?", name, name);
  if (strncmp(name, "-p", 2) == 0)
    ft_usage("expected a COMMAND before -p; did you mean ljprof top %s%s%s?",
             name, arg ? " " : "", arg ? arg : "");
  if (near.best)
    ft_usage("there is no command %s; did you mean %s?", name, near.best);
  ft_usage("there is no command %s; there are run, report, diff, heap, "
           "stacks, top, control and help",
           name);
}

/* Runs a command: ARGV[0] is its name. */
static int run(const Command *c, int argc, char **argv)
{
  char name[32];
  snprintf(name, sizeof(name), "ljprof %s", c->name);
  argv[0] = name;
  return c->run(argc, argv);
}

/* "ljprof help", "ljprof help COMMAND". */
static int help(int argc, char **argv)
{
  static char option[] = "--help";
  char *args[] = {NULL, option, NULL};
  const Command *c;
  if (argc < 2) {
    print_help(stdout);
    return fflush(stdout) ? FT_EXIT_NOTHING : 0;
  }
  c = find(argv[1]);
  return c ? run(c, 2, args) : unknown(argv[1], NULL);
}

static int is_any(const char *s, const char *a, const char *b, const char *c)
{
  return strcmp(s, a) == 0 || strcmp(s, b) == 0 || strcmp(s, c) == 0;
}

int main(int argc, char **argv)
{
  const Command *c;
  if (argc < 2) {
    print_help(stderr);
    return FT_EXIT_USAGE;
  }
  if (is_any(argv[1], "--version", "-V", "version")) {
    printf("ljprof %s\n", LP_VERSION);
    return fflush(stdout) ? FT_EXIT_NOTHING : 0;
  }
  if (is_any(argv[1], "--help", "-h", "-?"))
    return help(1, argv);
  if (strcmp(argv[1], "help") == 0)
    return help(argc - 1, argv + 1);
  c = find(argv[1]);
  return c ? run(c, argc - 1, argv + 1) : unknown(argv[1], argv[2]);
}
