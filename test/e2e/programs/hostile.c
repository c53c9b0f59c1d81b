/*
** A program that makes work for whoever samples it:
**
**   hostile code N DIR     maps N small ELF files that look like a LuaJIT's
**   hostile sparse N DIR   maps N ELF files with sections of 1 GiB in a hole
**   hostile churn N DIR    maps and unmaps N files of code for ever
**   hostile wide N DIR     maps one file N times
**   hostile threads N DIR  has N threads, which run for a moment now and then
**   hostile spawn N DIR    forks, and executes a program, N times a second
**
** It prints "ready", and uses the CPU until it is ended.
*/

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIZE 16384 /* Bytes of a file that are mapped. */
#define CODE 4096  /* Where its code begins. */
#define HOLE (1ull << 30)

typedef struct File {
  Elf64_Ehdr eh;
  Elf64_Phdr ph;
  Elf64_Shdr sh[5];
  char names[64];
} File;

static const char names[] = "\0.eh_frame\0.symtab\0.strtab\0.shstrtab";

/* A section of TYPE in the hole that number I begins at. */
static Elf64_Shdr hole(uint32_t name, uint32_t type, uint32_t link, int i)
{
  Elf64_Shdr s = {.sh_name = name,
                  .sh_type = type,
                  .sh_offset = SIZE + (uint64_t)i * HOLE,
                  .sh_size = HOLE,
                  .sh_link = link,
                  .sh_entsize = type == SHT_SYMTAB ? 24 : 0};
  return s;
}

/* An ELF file of one segment; with SPARSE, of sections in holes, too. */
static void fill(uint8_t *image, int sparse)
{
  static const uint8_t entry[] = {0x55, 0x53, 0x41, 0x57, 0x41, 0x56};
  File *f = (File *)image;
  int i;
  memcpy(f->eh.e_ident, ELFMAG "\2\1\1", 7);
  f->eh.e_type = ET_DYN;
  f->eh.e_machine = EM_X86_64;
  f->eh.e_version = EV_CURRENT;
  f->eh.e_ehsize = sizeof(f->eh);
  f->eh.e_phoff = offsetof(File, ph);
  f->eh.e_phentsize = sizeof(f->ph);
  f->eh.e_phnum = 1;
  f->eh.e_shentsize = sizeof(f->sh[0]);
  f->ph = (Elf64_Phdr){.p_type = PT_LOAD,
                       .p_flags = PF_R | PF_X,
                       .p_filesz = SIZE,
                       .p_memsz = SIZE,
                       .p_align = 4096};
  for (i = 0; i < 4; i++)
    memcpy(image + CODE + i * 64, entry, sizeof(entry));
  if (!sparse)
    return;
  f->eh.e_shoff = offsetof(File, sh);
  f->eh.e_shnum = 5;
  f->eh.e_shstrndx = 4;
  f->sh[1] = hole(1, SHT_PROGBITS, 0, 0);
  f->sh[2] = hole(11, SHT_SYMTAB, 3, 1);
  f->sh[3] = hole(19, SHT_STRTAB, 0, 2);
  f->sh[4] = (Elf64_Shdr){.sh_name = 27,
                          .sh_type = SHT_STRTAB,
                          .sh_offset = offsetof(File, names),
                          .sh_size = sizeof(names)};
  memcpy(f->names, names, sizeof(names));
}

static void die(const char *what)
{
  perror(what);
  exit(1);
}

/* Makes file number I and maps it with the right to execute. */
static void *map_file(const char *dir, int i, int sparse)
{
  static uint8_t image[SIZE];
  char path[4096];
  void *p;
  int fd;
  memset(image, 0, sizeof(image));
  fill(image, sparse);
  snprintf(path, sizeof(path), "%s/hostile%d.so", dir, i);
  fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0700);
  if (fd < 0 || write(fd, image, SIZE) != SIZE ||
      (sparse && ftruncate(fd, SIZE + 3 * (off_t)HOLE)))
    die(path);
  p = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  if (p == MAP_FAILED)
    die("mmap");
  close(fd);
  return p;
}

/* Maps one file N times, with room between: they do not become one. */
static void map_wide(const char *dir, int n)
{
  char path[4096];
  int fd, i;
  munmap(map_file(dir, 0, 0), SIZE);
  snprintf(path, sizeof(path), "%s/hostile0.so", dir);
  fd = open(path, O_RDONLY);
  for (i = 0; i < n; i++)
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
             i & 1 ? 4096 : 8192) == MAP_FAILED)
      die("mmap");
}

static void pause_ns(long ns)
{
  struct timespec t = {ns / 1000000000, ns % 1000000000};
  nanosleep(&t, NULL);
}

static void *thread(void *arg)
{
  volatile unsigned i;
  for (;;) {
    for (i = 0; i < 10000; i++)
      ;
    pause_ns(1000000000);
  }
  return arg;
}

static void make_threads(int n)
{
  pthread_attr_t attr;
  pthread_t t;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 65536);
  while (n--)
    if (pthread_create(&t, &attr, thread, NULL))
      die("pthread_create");
}

/* Starts programs, N a second. */
static void spawn(int n)
{
  for (;;) {
    pid_t pid = fork();
    if (pid == 0) {
      execl("/bin/true", "true", (char *)NULL);
      _exit(1);
    }
    pause_ns(1000000000 / n);
    while (waitpid(-1, NULL, WNOHANG) > 0)
      ;
  }
}

int main(int argc, char **argv)
{
  const char *how = argc > 3 ? argv[1] : "", *dir = argc > 3 ? argv[3] : ".";
  int n = argc > 3 ? atoi(argv[2]) : 0, i;
  if (strcmp(how, "wide") == 0)
    map_wide(dir, n);
  else if (strcmp(how, "code") == 0 || strcmp(how, "sparse") == 0)
    for (i = 0; i < n; i++)
      map_file(dir, i, *how == 's');
  else if (strcmp(how, "threads") == 0)
    make_threads(n);
  else if (strcmp(how, "churn") != 0 && strcmp(how, "spawn") != 0)
    return 64;
  puts("ready");
  fflush(stdout);
  if (strcmp(how, "spawn") == 0)
    spawn(n);
  for (i = 0;; i++)
    if (*how == 'c' && how[1] == 'h')
      munmap(map_file(dir, i % n, 0), SIZE);
}
