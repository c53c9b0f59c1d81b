/*
** The file that a recording from Lua goes to.
*/

#ifndef _LJ_MEMPROF_FILE_H
#define _LJ_MEMPROF_FILE_H

#include <sys/stat.h>
#include <sys/types.h>

#include "lj_def.h"

/*
** A file, owned by whoever opened it until it is closed or dropped. Functions
** that fail set en to an error number, and why to a static string, or NULL if
** strerror(en) says it all.
*/
typedef struct MPFile {
  int fd;          /* What is written to, or -1. */
  int lock;        /* What has the lock: fd, another descriptor, or -1. */
  int regular;     /* A regular file: checked, and cut back, by its size. */
  int append;      /* Of O_APPEND: the position says nothing. */
  int named;       /* It had a name: without one it is deleted. */
  int again;       /* Nothing of the last block was written: no space. */
  dev_t dev, rdev; /* What the descriptor was opened for. */
  ino_t ino;
  off_t at; /* The size so far: up to here it is ours. */
  long pid; /* The process that opened it. */
  int en;
  const char *why;
  int dir;           /* While there is a temporary file: its directory, */
  char *name;        /* its name to be; the name of the file before is */
  char *oldname;     /* to be this; or NULL. */
  int old;           /* The file before, locked, or -1; */
  struct stat oldst; /* what it was. */
  char temp[64];     /* Name of the temporary file, or "". */
} MPFile;

/* -- Names (lj_memprof_file.c) --------------------------------------------- */

/*
** Opens a recording's file: a temporary one beside fname, or the FIFO or
** character device itself. Returns 0 if it fails; then nothing is left.
*/
LJ_FUNC int lj_memprof_openfile(MPFile *f, const char *fname);

/* The same for a copy of a descriptor, which stays the caller's. */
LJ_FUNC int lj_memprof_openfd(MPFile *f, int fd);

/*
** Gives a temporary file its name; a file that had it before, and is not
** empty, gets the name with ".old" behind it. Returns 0 if it fails; then both
** are as they were. arg is an MPFile.
*/
LJ_FUNC int lj_memprof_namefile(void *arg);

/* The same, which frees nothing and closes nothing but the file before. */
LJ_FUNC int lj_memprof_renamefile(MPFile *f);

/*
** Of a file that another process writes on: closes this one's copies of the
** descriptors. The names stay.
*/
LJ_FUNC void lj_memprof_leavefile(MPFile *f);

/*
** When that process has died: true if the file got its name. What is left to
** do for the file before is done then.
*/
LJ_FUNC int lj_memprof_mendfile(MPFile *f);

/* Takes back an open that came to nothing. */
LJ_FUNC void lj_memprof_dropfile(MPFile *f);

/* Sets the error. Returns 0. */
LJ_FUNC int lj_memprof_filefail(MPFile *f, int en, const char *why);

/* -- Bytes (lj_memprof_out.c) ---------------------------------------------- */

/* Remembers what the descriptor stands for, by its state. */
LJ_FUNC void lj_memprof_knowfile(MPFile *f, const struct stat *st);

/*
** A luam_Prof_options.writer: takes all of a block, or nothing. No signal
** comes of it. arg is an MPFile.
*/
LJ_FUNC size_t lj_memprof_writefile(const void *data, size_t len, void *arg);

/* True if the writer has failed for want of space, and may be called again. */
LJ_FUNC int lj_memprof_fileagain(void *arg);

/*
** From here on writes to what is no regular file take until then at the most:
** nanoseconds of lj_memprof_now(). For all files, when the process exits.
*/
LJ_FUNC void lj_memprof_outuntil(uint64_t until);

/* In a child of fork(): closes its copies of the parent's descriptors. */
LJ_FUNC void lj_memprof_forkedfile(void *arg);

/* Closes a file, unless the program has done so. Sets en if that fails. */
LJ_FUNC void lj_memprof_closefile(MPFile *f);

#endif
