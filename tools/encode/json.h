/*
** A JSON writer, directly to the output.
**
** What is written is safe inside a <script> element: there is no '<' in it.
*/

#ifndef LP_JSON_H
#define LP_JSON_H

#include "out.h"
#include "strview.h"

typedef struct LpJson {
  LpOut *out;
  uint64_t arrays; /* A bit for each depth: that is an array. */
  unsigned depth;  /* At most 63. */
  int comma;       /* One belongs before what comes next. */
} LpJson;

/* Start to write a document to OUT, which the caller owns. */
void lp_json_open(LpJson *j, LpOut *out);

/* Begin an object: the member KEY of the one around it, if that is not NULL. */
void lp_json_object(LpJson *j, const char *key);

/* Begin an array, in the same way. */
void lp_json_array(LpJson *j, const char *key);

/* End the innermost object or array. */
void lp_json_end(LpJson *j);

/* The name of the next member, as a C string. */
void lp_json_key(LpJson *j, const char *key);

/* The name of the next member. Invalid UTF-8 is replaced. */
void lp_json_name(LpJson *j, LpStr key);

/* A string of any bytes. Invalid UTF-8 is replaced. */
void lp_json_string(LpJson *j, LpStr s);

/* A C string; null if S is NULL. */
void lp_json_text(LpJson *j, const char *s);

/* An integer. N is taken as signed. */
void lp_json_number(LpJson *j, uint64_t n);

/* A number with a fraction. */
void lp_json_real(LpJson *j, double x);

/* null, for an unknown value. */
void lp_json_null(LpJson *j);

/* A member of an object. */
static inline void lp_json_keynumber(LpJson *j, const char *key, uint64_t n)
{
  lp_json_key(j, key);
  lp_json_number(j, n);
}

/* The same; NULL is null. */
static inline void lp_json_keytext(LpJson *j, const char *key, const char *s)
{
  lp_json_key(j, key);
  lp_json_text(j, s);
}

#endif
