/*
** What people read while it runs: on standard error, each message one line.
*/

#ifndef LS_SAY_H
#define LS_SAY_H

void ls_say_open(int quiet);
int ls_say_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ls_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int ls_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
