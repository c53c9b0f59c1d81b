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
  char *drop; /* Of a dump: a file that goes away when this one has its name, or
              ** NULL. */
  int keep;   /* So many segments, or 0; dir and name stay then. */
  char *tail; /* Path of the file's tail, or NULL; */
  char tailtemp[64]; /* its name before it has that one, or ""; */
  dev_t taildev;     /* what it is. */
  ino_t tailino;
  char *path;    /* If it may begin anew: its path, */
  char *pattern; /* and that of a child's, with %p for its number; or */
  int loud;      /* NULL. What fails then is a line on stderr. */
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
** The same for a socket: unix:PATH, with @ before a name without a file, or
** tcp:HOST:PORT. Waits up to five seconds for the connection, and as long as
** the system does for the host's address.
*/
LJ_FUNC int lj_memprof_opensocket(MPFile *f, const char *name);

/* True if a name is one of those. */
LJ_FUNC int lj_memprof_issocket(const char *name);

/* Sets all to nothing: before f->fd is opened elsewhere. */
LJ_FUNC void lj_memprof_initfile(MPFile *f);

/* Looks what f->fd is. Returns 0 if it fails; then nothing is left. */
LJ_FUNC int lj_memprof_connected(MPFile *f);

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

/* Closes and frees what is needed for names only. */
LJ_FUNC void lj_memprof_forgetnames(MPFile *f);

/* Takes back an open that came to nothing. */
LJ_FUNC void lj_memprof_dropfile(MPFile *f);

/* Sets the error. Returns 0. */
LJ_FUNC int lj_memprof_filefail(MPFile *f, int en, const char *why);

/*
** Makes a temporary file beside the name; opens and locks it. Returns 0 if it
** fails.
*/
LJ_FUNC int lj_memprof_maketemp(MPFile *f);

/* Gives it its name. Returns 0, with en = 0 if something has that name. */
LJ_FUNC int lj_memprof_taketemp(MPFile *f);

/* Closes it and takes it away, if it has no other name. */
LJ_FUNC void lj_memprof_droptemp(MPFile *f);

/* -- Segments (lj_memprof_segfile.c) --------------------------------------- */

/*
** A file that was opened by its name is to have segments, of which so many are
** kept, itself included. Returns 0 if a name of theirs is not free.
*/
LJ_FUNC int lj_memprof_checksegments(MPFile *f, int keep);

/*
** Begins the next segment: the file becomes FILE.1, and the others move up by
** one. Returns 0 if it fails. arg is an MPFile.
*/
LJ_FUNC int lj_memprof_nextfile(void *arg);

/*
** Closes a file, with or without segments, unless the program has done so. Sets
** en if that fails. If it had failed before, an empty segment is taken away.
*/
LJ_FUNC void lj_memprof_closefile(MPFile *f);

/* -- Tails (lj_memprof_tailfile.c) ----------------------------------------- */

/*
** Makes the tail of a file that was opened by its name, for a buffer of so many
** bytes. Returns a descriptor of it, the caller's to close, or -1 and the
** error is set.
*/
LJ_FUNC int lj_memprof_opentail(MPFile *f, size_t buffer);

/* The file before has become FILE.old: its tail goes with it. */
LJ_FUNC void lj_memprof_keeptail(const MPFile *f);

/* Gives a tail, if there is one, its name. Returns 0 if it fails. */
LJ_FUNC int lj_memprof_nametail(MPFile *f);

/* Removes a tail: nothing of it is needed. In a child, it is the parent's. */
LJ_FUNC void lj_memprof_droptail(MPFile *f);

/* Leaves it where it is. */
LJ_FUNC void lj_memprof_leavetail(MPFile *f);

/* -- Beginning anew (lj_memprof_anewfile.c) -------------------------------- */

/*
** A file that was opened by its name may be opened again, under the path that
** it has now, or in a child process under a name with its number for %p.
** pattern: that name, in the same directory, or NULL for FILE.%p. Returns 0 if
** it fails, and sets errno. Does nothing if it was called before.
*/
LJ_FUNC int lj_memprof_anewfile(MPFile *f, const char *pattern);

/* Frees what that has allocated. */
LJ_FUNC void lj_memprof_forgetanew(MPFile *f);

/*
** In a child process: leaves its parent's file as it is, for one of its own,
** which is not open yet.
*/
LJ_FUNC void lj_memprof_leavefor(MPFile *f);

/*
** Opens the file again, as lj_memprof_openfile(); it has as many segments as
** before. Returns 0 if it fails; then no name is changed.
*/
LJ_FUNC int lj_memprof_reopenfile(MPFile *f);

/*
** Closes it, as a stop does: the tail goes away if nothing has failed. Sets en
** if that fails.
*/
LJ_FUNC void lj_memprof_endfile(MPFile *f);

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

/* In a child of fork(): closes its copies of the parent's descriptors. */
LJ_FUNC void lj_memprof_forkedfile(void *arg);

/*
** Allocates size bytes for an empty file. Returns 0 or an error number. No
** signal comes of it.
*/
LJ_FUNC int lj_memprof_allocfd(int fd, off_t size);

/* Closes descriptor and lock for lj_memprof_closefile(). */
LJ_FUNC void lj_memprof_closeout(MPFile *f);

#endif
