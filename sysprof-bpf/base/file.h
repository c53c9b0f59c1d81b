/*
** Opens files whose names come from processes that are sampled.
*/

#ifndef LS_FILE_H
#define LS_FILE_H

/* Open the file PATH for reading as one sees it whose root directory is ROOT:
** no symbolic link leads out of it. Only regular files are opened: a FIFO or a
** device is never, as that may wait, or do something. Returns a descriptor that
** the caller closes, or -1 and errno: ENOEXEC for what is no regular file.
*/
int ls_file_open(const char *root, const char *path);

/* Open what LINK of /proc leads to for reading, likewise. */
int ls_file_reopen(const char *link);

#endif
