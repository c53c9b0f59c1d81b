/*
** Recordings to a file for so many milliseconds, for tests.
*/

#ifndef TIMED_H
#define TIMED_H

#include "rec.h"

/* The file of the test. */
extern char timed_path[64];

/* Before and after each test. */
void timed_setup(void);
void timed_teardown(void);

/* Options of a recording to the file for so many milliseconds. */
struct luam_Prof_options timed_options(int format, uint64_t ms);

/* True if the file has a whole stream. */
bool timed_iswhole(void);

/* Checks that the file is whole and adds up, but if it has samples. */
void timed_checkwhole(bool samples);

/* Sleeps for so many microseconds, or until a signal comes. */
void timed_nap(unsigned us);

/* Waits for about as long as the recording takes, busy or not. */
void timed_wait(lua_State *L, int round, int ms);

#endif
