/*
** Writes profile.proto: its fields' numbers, and what all profiles have.
**
** All fields of a profile may come in any order, so that each is written as
** soon as it is known: a string, function, mapping or location where it is used
** first, a sample for each stack. Ids count from 1 in the order in which they
** are written: profile.proto does not ask for that, but Parca does.
*/

#ifndef LP_PPROF_OUT_H
#define LP_PPROF_OUT_H

#include "gzip.h"
#include "intern.h"
#include "protobuf.h"

/* Fields of the messages, by profile.proto's numbers. */
enum {
  PROFILE_SAMPLE_TYPE = 1,
  PROFILE_SAMPLE,
  PROFILE_MAPPING,
  PROFILE_LOCATION,
  PROFILE_FUNCTION,
  PROFILE_STRING,
  PROFILE_TIME = 9,
  PROFILE_DURATION,
  PROFILE_PERIOD_TYPE,
  PROFILE_PERIOD,
  PROFILE_COMMENT,
  PROFILE_DEFAULT_TYPE
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STRING, LABEL_NUMBER };
enum {
  MAPPING_ID = 1,
  MAPPING_LIMIT = 3,
  MAPPING_FILE = 5,
  MAPPING_BUILDID,
  MAPPING_HASFUNCTIONS
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum {
  FUNCTION_ID = 1,
  FUNCTION_NAME,
  FUNCTION_SYSTEM,
  FUNCTION_FILE,
  FUNCTION_LINE
};

/* A profile that is being written. */
typedef struct LpPprof {
  LpGzip gzip;
  LpBuf top; /* A field of the profile, with its head. */
  LpIntern strings;
} LpPprof;

/* Begin a profile on OUT, which stays the caller's. */
void lp_pprof_open(LpPprof *p, LpOut *out);

/* Write the end of it and free the memory. */
void lp_pprof_close(LpPprof *p);

/* Write a message of the profile, which is empty then. */
void lp_pprof_field(LpPprof *p, unsigned field, LpBuf *msg);

/* Write a number of the profile. */
void lp_pprof_number(LpPprof *p, unsigned field, uint64_t n);

/* The number of a string, which is made UTF-8. */
uint64_t lp_pprof_string(LpPprof *p, const char *s);

/* Write a type of values. */
void lp_pprof_type(LpPprof *p, unsigned field, const char *type,
                   const char *unit);

/* Write a comment, if there is one, which is empty then. */
void lp_pprof_comment(LpPprof *p, LpBuf *b);

#endif
