/*
** What IR calls of library functions may emit when a trace is recorded.
*/

#include "iremit.h"
#include "vmlib.h"

#define ARG (LS_EMIT_ANY | LS_EMIT_SLOT | LS_EMIT_FIELD)
#define TABLE                                                                  \
  (ARG | LS_EMIT_INT | LS_EMIT_UORDER | LS_EMIT_INDEX | LS_EMIT_HASH |         \
   LS_EMIT_LOAD)
#define SET    (TABLE | LS_EMIT_STORE | LS_EMIT_BARRIER)
#define META   (ARG | LS_EMIT_HASH | LS_EMIT_LOAD)
#define NUMBER (ARG | LS_EMIT_STRTO | LS_EMIT_INT | LS_EMIT_INDEX)
#define BITS   (NUMBER | LS_EMIT_BITS)
#define ROUND  (NUMBER | LS_EMIT_MATH)
#define OTHER  (NUMBER | LS_EMIT_OTHER)
#define UNARY  (ROUND | LS_EMIT_CALL)
#define MATH                                                                   \
  (UNARY | OTHER | LS_EMIT_ADD | LS_EMIT_SUB | LS_EMIT_MUL | LS_EMIT_DIV |     \
   LS_EMIT_NEG | LS_EMIT_MOD | LS_EMIT_POW)
#define STRING                                                                 \
  (NUMBER | LS_EMIT_ADD | LS_EMIT_SUB | LS_EMIT_BITS | LS_EMIT_ORDER |         \
   LS_EMIT_UORDER | LS_EMIT_MEMORY | LS_EMIT_CALL | LS_EMIT_STRING |           \
   LS_EMIT_OTHER)

/* Of those that have 0, anything. */
static const uint32_t library_kinds[LS_FNS] = {
    [LS_FN_ASSERT] = ARG,
    [LS_FN_PCALL] = ARG,
    [LS_FN_XPCALL] = ARG,
    [LS_FN_TYPE] = ARG,
    [LS_FN_IPAIRS_AUX] = TABLE,
    [LS_FN_GETMETATABLE] = META,
    [LS_FN_SETMETATABLE] = META | LS_EMIT_STORE | LS_EMIT_BARRIER,
    [LS_FN_RAWGET] = TABLE,
    [LS_FN_RAWSET] = SET,
    [LS_FN_ABS] = OTHER,
    [LS_FN_FLOOR] = ROUND,
    [LS_FN_CEIL] = ROUND,
    [LS_FN_SQRT] = ROUND,
    [LS_FN_LOG10] = MATH,
    [LS_FN_EXP] = MATH,
    [LS_FN_SIN] = UNARY,
    [LS_FN_COS] = UNARY,
    [LS_FN_TAN] = UNARY,
    [LS_FN_ASIN] = MATH,
    [LS_FN_ACOS] = MATH,
    [LS_FN_ATAN] = MATH,
    [LS_FN_SINH] = UNARY,
    [LS_FN_COSH] = UNARY,
    [LS_FN_TANH] = UNARY,
    [LS_FN_MODF] = MATH,
    [LS_FN_LOG] = MATH,
    [LS_FN_ATAN2] = MATH,
    [LS_FN_POW] = MATH,
    [LS_FN_FMOD] = MATH,
    [LS_FN_LDEXP] = MATH,
    [LS_FN_MIN] = OTHER,
    [LS_FN_MAX] = OTHER,
    [LS_FN_TOBIT] = BITS,
    [LS_FN_BNOT] = BITS,
    [LS_FN_BSWAP] = BITS,
    [LS_FN_LSHIFT] = BITS,
    [LS_FN_RSHIFT] = BITS,
    [LS_FN_ARSHIFT] = BITS,
    [LS_FN_ROL] = BITS,
    [LS_FN_ROR] = BITS,
    [LS_FN_BAND] = BITS,
    [LS_FN_BOR] = BITS,
    [LS_FN_BXOR] = BITS,
    [LS_FN_BYTE] = STRING,
    [LS_FN_CHAR] = STRING,
    [LS_FN_SUB] = STRING,
    [LS_FN_REP] = STRING,
    [LS_FN_REVERSE] = STRING,
    [LS_FN_LOWER] = STRING,
    [LS_FN_UPPER] = STRING,
    [LS_FN_FIND] = STRING,
    [LS_FN_FORMAT] = STRING,
    [LS_FN_INSERT] = SET | LS_EMIT_LEN | LS_EMIT_CALL,
    [LS_FN_CONCAT] = STRING | LS_EMIT_LEN,
    [LS_FN_SELECT] = NUMBER,
    [LS_FN_TONUMBER] = NUMBER | LS_EMIT_MEMORY | LS_EMIT_CALL | LS_EMIT_OTHER,
    [LS_FN_TOSTRING] = META | LS_EMIT_STRING | LS_EMIT_CALL | LS_EMIT_OTHER};

uint32_t ls_emit_library(const struct ljs_vm *vm, uint32_t ffid)
{
  unsigned fn = ls_vm_function(vm, ffid);
  uint32_t kinds = fn < LS_FNS ? library_kinds[fn] : 0;
  return kinds ? kinds : LS_EMIT_ALL;
}

bool ls_emit_istostring(const struct ljs_vm *vm, uint32_t ffid)
{
  return ls_vm_function(vm, ffid) == LS_FN_TOSTRING;
}
