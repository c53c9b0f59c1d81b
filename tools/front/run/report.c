/*
** ljprof report, diff and heap: lj-parse-memprof with fewer words. They take
** folders of ljprof run as well as files, and make a page as ljprof run does.
** What they do not know is passed on.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"
#include "program.h"
#include "run.h"

/* A command line, sorted. */
typedef struct Words {
  char **option; /* For lj-parse-memprof. */
  size_t noption;
  char **file; /* What is no option. */
  size_t nfile;
  const char *output; /* Or NULL. */
  int open;
  int format; /* There is a --format among them, */
  int plain;  /* or another that a summary does not go with. */
} Words;

/* -- The command line ----------------------------------------------------- */

static void print_help(const char *name, const char *usage, const char *about)
{
  printf("Usage: %s %s\n%s\n\n"
         "  -o, --output=PAGE      Write a page to PAGE, which ends in .html; "
         "else the text\n"
         "      --open             Open the page in a browser\n"
         "  -?, -h, --help         Print this\n"
         "  --NAME=VALUE, ...      Any option of lj-parse-memprof, as "
         "--view=lines\n\n"
         "A FOLDER is one that ljprof run has made, with all recordings in "
         "it.\n\n"
         "Exit status: 0 done; 1 a part was read; 2 nothing could be read or "
         "written;\n3 a limit was exceeded; 64 usage.\n",
         name, usage, about);
  exit(fflush(stdout) ? FT_EXIT_NOTHING : 0);
}

static int begins(const char *s, const char *with)
{
  return strncmp(s, with, strlen(with)) == 0;
}

/* The value of -o, --output at *ARG, or NULL if it is another option. A value
** of its own is skipped.
*/
static const char *output_of(char ***arg)
{
  const char *s = **arg;
  if (begins(s, "--output="))
    s += strlen("--output=");
  else if (s[0] == '-' && s[1] == 'o' && s[2])
    s += 2;
  else if (strcmp(s, "-o") != 0 && strcmp(s, "--output") != 0)
    return NULL;
  else if (!(*arg)[1])
    ft_usage("%s needs a name, as in -o app.html", s);
  else
    s = *++*arg;
  if (!*s)
    ft_usage("-o needs a name, as in -o app.html");
  return s;
}

static void sort_word(Words *w, char *s)
{
  if (strcmp(s, "--open") == 0) {
    w->open = 1;
  } else if (s[0] != '-' || !s[1]) {
    w->file[w->nfile++] = s;
  } else {
    w->option[w->noption++] = s;
    w->format |= begins(s, "--format");
    w->plain |= begins(s, "--no-summary") || begins(s, "--follow");
  }
}

/* Sorts the command line. USAGE and ABOUT are for --help. */
static void read_words(Words *w, int argc, char **argv, const char *usage,
                       const char *about)
{
  char **arg;
  int only = 0; /* Files follow. */
  *w = (Words){.option = lp_zalloc((size_t)argc + 1, sizeof(char *)),
               .file = lp_zalloc((size_t)argc + 1, sizeof(char *))};
  for (arg = argv + 1; *arg; arg++) {
    const char *output;
    if (only || strcmp(*arg, "--") == 0) {
      if (only)
        w->file[w->nfile++] = *arg;
      only = 1;
      continue;
    }
    if (strcmp(*arg, "-h") == 0 || strcmp(*arg, "-?") == 0 ||
        strcmp(*arg, "--help") == 0)
      print_help(argv[0], usage, about);
    output = output_of(&arg);
    if (output)
      w->output = output;
    else
      sort_word(w, *arg);
  }
}

/* -- Files ---------------------------------------------------------------- */

/* What is read. */
typedef struct Files {
  char **name; /* Strings that live as long as the program. */
  size_t n, room;
} Files;

static void add_file(Files *f, char *name)
{
  f->name = lp_grow(f->name, &f->room, f->n + 2, sizeof(*f->name));
  f->name[f->n++] = name;
}

/* Adds a file, or all recordings of a folder. */
static void add_files(Files *f, char *name)
{
  struct stat st;
  char **in;
  size_t n, i;
  if (stat(name, &st) || !S_ISDIR(st.st_mode)) {
    add_file(f, name);
    return;
  }
  n = ft_place_list(name, &in);
  if (!n)
    ft_usage("there are no recordings in the folder %s", name);
  for (i = 0; i < n; i++)
    add_file(f, in[i]);
  free(in);
}

/* Adds the same as options --diff. */
static void add_bases(Files *f, char *name)
{
  static Files base; /* Some of its strings are nobody else's. */
  size_t i;
  add_files(&base, name);
  for (i = 0; i < base.n; i++) {
    LpBuf b = {0};
    lp_buf_printf(&b, "--diff=%s", base.name[i]);
    add_file(f, b.s);
  }
}

/* -- Running -------------------------------------------------------------- */

static int is_page(const char *name)
{
  size_t n = strlen(name);
  return (n > 5 && strcmp(name + n - 5, ".html") == 0) ||
         (n > 4 && strcmp(name + n - 4, ".htm") == 0);
}

/* Executes lj-parse-memprof in place of us. */
static int print_report(const Words *w, const Files *f)
{
  static char program[] = "lj-parse-memprof", o[] = "-o", end[] = "--";
  static char summary[] = "--summary";
  Files args = {0};
  size_t i;
  add_file(&args, program);
  if (!w->format && !w->plain && !w->output)
    add_file(&args, summary);
  for (i = 0; i < w->noption; i++)
    add_file(&args, w->option[i]);
  if (w->output) {
    add_file(&args, o);
    add_file(&args, (char *)(uintptr_t)w->output);
  }
  for (i = 0; i < f->n && begins(f->name[i], "--diff="); i++)
    add_file(&args, f->name[i]);
  add_file(&args, end);
  for (; i < f->n; i++)
    add_file(&args, f->name[i]);
  args.name[args.n] = NULL;
  return ft_exec(args.name);
}

/* Makes a page, or prints text. */
static int report(const Words *w, Files *f)
{
  Files all = {0};
  size_t i;
  int status;
  if (w->open && !(w->output && is_page(w->output)))
    ft_usage("--open needs a page, as in -o app.html");
  if (!w->output || !is_page(w->output) || w->format)
    return print_report(w, f);
  ft_page_check(w->output);
  for (i = 0; i < w->noption; i++)
    add_file(&all, w->option[i]);
  for (i = 0; i < f->n; i++)
    add_file(&all, f->name[i]);
  status = ft_page_make(w->output, all.name, all.n, w->plain);
  free(all.name);
  if (status >= FT_EXIT_NOTHING)
    return status;
  fprintf(stderr, "\nPage: %s\n", w->output);
  if (w->open)
    ft_page_open(w->output);
  return status;
}

int ft_report(int argc, char **argv)
{
  static Files f;
  static Words w;
  size_t i;
  read_words(
      &w, argc, argv, "[-o PAGE] [OPTION...] FILE|FOLDER...",
      "Report on recordings of memory and CPU time, and on heap dumps: a "
      "summary and a table, or a page.");
  if (!w.nfile)
    ft_usage("a FILE or FOLDER is needed, as in ljprof report app.ljprof");
  for (i = 0; i < w.nfile; i++)
    add_files(&f, w.file[i]);
  return report(&w, &f);
}

int ft_diff(int argc, char **argv)
{
  static Files f;
  static Words w;
  read_words(
      &w, argc, argv, "[-o PAGE] [OPTION...] OLD NEW",
      "Compare two recordings, folders of recordings or heap dumps: what "
      "has NEW more, and what less?");
  if (w.nfile != 2)
    ft_usage("OLD and NEW are needed, as in ljprof diff old.ljprof new.ljprof, "
             "and options as --view=lines");
  add_bases(&f, w.file[0]);
  add_files(&f, w.file[1]);
  return report(&w, &f);
}

/* A file that is no heap dump by its name. */
static void check_heap(const char *name)
{
  const char *dot = strrchr(name, '.');
  if (dot && (strcmp(dot, ".ljm") == 0 || strcmp(dot, ".ljp") == 0))
    ft_usage("%s is a recording; did you mean ljprof report %s?", name, name);
  if (!name[strspn(name, "0123456789")] && access(name, F_OK) != 0)
    ft_usage("%s is no heap dump: a program makes one by "
             "misc.memprof.dump(\"heap.ljd\"), or "
             "require(\"memprof\").dump(\"heap.ljd\")",
             name);
}

int ft_heap(int argc, char **argv)
{
  static Files f;
  static Words w;
  size_t i;
  read_words(&w, argc, argv, "[-o PAGE] [OPTION...] DUMP [RECORDING]",
             "Who keeps memory: report on a heap dump; with the recording of "
             "the same program, also which line has made it.");
  if (!w.nfile)
    ft_usage("a heap dump is needed, as in ljprof heap heap.ljd");
  check_heap(w.file[0]);
  for (i = 0; i < w.nfile; i++)
    add_files(&f, w.file[i]);
  return report(&w, &f);
}
