/*
** Messages on standard error, each of one line.
*/

#ifndef LS_SAY_H
#define LS_SAY_H

/* Choose what is printed: with QUIET only failures are. Call it once, before
** the others.
*/
void ls_say_open(int quiet);

/* Print progress in the place of the last one, on terminals only. Returns 0 if
** standard error is none, or with QUIET; else 1.
*/
int ls_say_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print a message of one line, unless QUIET. */
void ls_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print an error of one line. Always returns -1. */
int ls_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
