/*
** What a program is that is to be recorded.
**
** LuaJIT and the recorder are recognized by messages that only they contain.
** Which libraries a program is linked with says its dynamic loader, by --list:
** that maps them and runs nothing of them.
*/

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"
#include "program.h"

#define SCRIPTS_MAX 4 /* Scripts that run each other, as in the kernel. */
#define FILE_LIMIT  ((size_t)256 << 20) /* Of larger files so much is read. */

/* A file in memory. */
typedef struct Mapped {
  const char *s;
  size_t n;
} Mapped;

static int map_file(Mapped *m, const char *path)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat st;
  void *p = MAP_FAILED;
  *m = (Mapped){"", 0};
  if (fd < 0)
    return -1;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
    m->n = (size_t)st.st_size < FILE_LIMIT ? (size_t)st.st_size : FILE_LIMIT;
    p = mmap(NULL, m->n, PROT_READ, MAP_PRIVATE, fd, 0);
  }
  close(fd);
  if (p == MAP_FAILED)
    return -1;
  m->s = p;
  return 0;
}

static void unmap_file(Mapped *m)
{
  if (m->n)
    munmap((void *)(uintptr_t)m->s, m->n);
}

static int contains(const Mapped *m, const char *text)
{
  return memmem(m->s, m->n, text, strlen(text)) != NULL;
}

/* -- Finding it ----------------------------------------------------------- */

/* A regular file that may be executed? Returns 0 or an errno. */
static int executable(const char *path)
{
  struct stat st;
  if (stat(path, &st))
    return errno;
  if (!S_ISREG(st.st_mode) || access(path, X_OK))
    return EACCES;
  return 0;
}

/* Searches PATH for NAME, as execvp does. Returns 0 or an errno. */
static int search(const char *name, char path[PATH_MAX])
{
  const char *dirs = getenv("PATH"), *end;
  int err = ENOENT;
  if (strchr(name, '/')) {
    if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
      return ENAMETOOLONG;
    return executable(path);
  }
  for (dirs = dirs ? dirs : "/bin:/usr/bin"; *name; dirs = end + 1) {
    end = strchrnul(dirs, ':');
    if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - dirs), dirs,
                 end > dirs ? "/" : "", name) < PATH_MAX) {
      int e = executable(path);
      if (!e)
        return 0;
      err = e == EACCES ? e : err;
    }
    if (!*end)
      break;
  }
  return err;
}

/* The next word at *S, which ends at a blank or the line's end. Returns its
** length.
*/
static size_t next_word(const char **s)
{
  *s += strspn(*s, " \t");
  return strcspn(*s, " \t\r\n");
}

/* Replaces PATH by what runs it, if it is a script: "#!/usr/bin/env luajit" is
** run by what env finds. Returns 0 if it is none.
*/
static int interpreter(char path[PATH_MAX])
{
  char line[512], word[256];
  const char *s = line + 2;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
  size_t n;
  if (fd >= 0)
    close(fd);
  if (got < 3 || memcmp(line, "#!", 2) != 0)
    return 0;
  line[got] = '\0';
  n = next_word(&s);
  if (n > 4 && memcmp(s + n - 4, "/env", 4) == 0) {
    s += n;
    n = next_word(&s);
    if (n == 2 && memcmp(s, "-S", 2) == 0) {
      s += n;
      n = next_word(&s);
    }
  }
  if (!n || n >= sizeof(word))
    return 0;
  snprintf(word, sizeof(word), "%.*s", (int)n, s);
  return search(word, path) == 0;
}

/* -- What it is ----------------------------------------------------------- */

/* Does this file have a LuaJIT's code? Sets *BUILTIN if the recorder is in it,
** too.
*/
static int has_luajit(const Mapped *m, int *builtin)
{
  if (!contains(m, "cannot load incompatible bytecode"))
    return 0;
  *builtin = contains(m, "a file's name expected behind");
  return 1;
}

/* The dynamic loader of a program for this machine, or NULL. */
static const char *loader(const Mapped *m)
{
  Elf64_Ehdr eh;
  Elf64_Phdr ph;
  size_t i;
  if (m->n < sizeof(eh))
    return NULL;
  memcpy(&eh, m->s, sizeof(eh));
  if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
      eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof(ph))
    return NULL;
  for (i = 0; i < eh.e_phnum; i++) {
    if (eh.e_phoff > m->n || m->n - eh.e_phoff < (i + 1) * sizeof(ph))
      return NULL;
    memcpy(&ph, m->s + eh.e_phoff + i * sizeof(ph), sizeof(ph));
    if (ph.p_type == PT_INTERP && ph.p_filesz && ph.p_offset < m->n &&
        ph.p_filesz <= m->n - ph.p_offset &&
        m->s[ph.p_offset + ph.p_filesz - 1] == '\0')
      return m->s + ph.p_offset;
  }
  return NULL;
}

/* Looks at a library. */
static void ask_library(FtHost *h, const char *path)
{
  Mapped m;
  int builtin;
  if (strstr(path, "/libasan."))
    h->asan = 1;
  if (h->kind != FT_HOST_OTHER || map_file(&m, path))
    return;
  if (has_luajit(&m, &builtin))
    h->kind = builtin ? FT_HOST_BUILTIN : FT_HOST_SHARED;
  unmap_file(&m);
}

/* Looks at the libraries, as the loader lists them: "NAME => PATH
** (0x7f...)".
*/
static void ask_libraries(FtHost *h, const char *by)
{
  char list[] = "--list", *args[4] = {(char *)(uintptr_t)by, list, h->inner};
  char line[PATH_MAX + 512];
  FtChild child;
  FILE *f;
  if (ft_start(&child, args))
    return;
  f = fdopen(child.out, "r");
  while (f && fgets(line, sizeof(line), f)) {
    char *path = strchr(line, '/'), *end = strrchr(line, '(');
    char *arrow = strstr(line, " => ");
    path = arrow ? arrow + 4 : path;
    if (!path || *path != '/' || !end || end <= path)
      continue;
    end[-1] = '\0';
    ask_library(h, path);
  }
  if (f) {
    child.out = -1;
    fclose(f);
  }
  ft_end(&child);
}

int ft_host_ask(FtHost *h, const char *name)
{
  int err = search(name, h->path), builtin = 0, i;
  Mapped m;
  const char *by;
  h->kind = FT_HOST_OTHER;
  h->asan = h->server = 0;
  if (err)
    return err;
  memcpy(h->inner, h->path, sizeof(h->path));
  for (i = 0; i < SCRIPTS_MAX && interpreter(h->inner); i++)
    ;
  if (map_file(&m, h->inner))
    return 0; /* It can be executed all the same. */
  by = loader(&m);
  h->server = contains(&m, "nginx version: ");
  if (has_luajit(&m, &builtin))
    h->kind = builtin                    ? FT_HOST_BUILTIN
              : contains(&m, "LUA_INIT") ? FT_HOST_INIT
                                         : FT_HOST_STATIC;
  else if (by)
    ask_libraries(h, by);
  unmap_file(&m);
  return 0;
}
