/*
** The numbers of a VM's library functions (ffid). Those of one library follow
** each other, in an order that is the same in all versions for the functions
** here; where a library's begin differs.
*/

#ifndef LS_VMLIB_H
#define LS_VMLIB_H

#include "elf.h"
#include "ljs.h"

/* Library functions, by library. */
enum {
  LS_FN_ASSERT,
  LS_FN_TYPE,
  LS_FN_NEXT,
  LS_FN_PAIRS,
  LS_FN_IPAIRS_AUX, /* Has no name: what ipairs returns. */
  LS_FN_IPAIRS,
  LS_FN_GETMETATABLE,
  LS_FN_SETMETATABLE,
  LS_FN_GETFENV,
  LS_FN_SETFENV,
  LS_FN_RAWGET,
  LS_FN_RAWSET,
  LS_FN_RAWEQUAL,
  LS_FN_ABS,
  LS_FN_FLOOR,
  LS_FN_CEIL,
  LS_FN_SQRT,
  LS_FN_LOG10,
  LS_FN_EXP,
  LS_FN_SIN,
  LS_FN_COS,
  LS_FN_TAN,
  LS_FN_ASIN,
  LS_FN_ACOS,
  LS_FN_ATAN,
  LS_FN_SINH,
  LS_FN_COSH,
  LS_FN_TANH,
  LS_FN_FREXP,
  LS_FN_MODF,
  LS_FN_LOG,
  LS_FN_ATAN2,
  LS_FN_POW,
  LS_FN_FMOD,
  LS_FN_LDEXP,
  LS_FN_MIN,
  LS_FN_MAX,
  LS_FN_TOBIT,
  LS_FN_BNOT,
  LS_FN_BSWAP,
  LS_FN_LSHIFT,
  LS_FN_RSHIFT,
  LS_FN_ARSHIFT,
  LS_FN_ROL,
  LS_FN_ROR,
  LS_FN_BAND,
  LS_FN_BOR,
  LS_FN_BXOR,
  LS_FN_BYTE,
  LS_FN_CHAR,
  LS_FN_SUB,
  LS_FN_REP,
  LS_FN_REVERSE,
  LS_FN_LOWER,
  LS_FN_UPPER,
  LS_FN_DUMP,
  LS_FN_FIND,
  LS_FN_MATCH,
  LS_FN_GMATCH_AUX, /* Likewise, of gmatch. */
  LS_FN_GMATCH,
  LS_FN_GSUB,
  LS_FN_FORMAT,
  LS_FN_MAXN,
  LS_FN_INSERT,
  LS_FN_CONCAT,
  LS_FN_UNPACK,
  LS_FN_SELECT,
  LS_FN_TONUMBER,
  LS_FN_TOSTRING,
  LS_FN_ERROR,
  LS_FN_PCALL,
  LS_FN_XPCALL,
  LS_FNS
};

/* Write to *VM where the numbers of each library of the VM in E begin; 0 if it
** is not known.
*/
void ls_vm_libraries(const LsElf *e, struct ljs_vm *vm);

/* The function that has a number, or LS_FNS if it is none of them. */
unsigned ls_vm_function(const struct ljs_vm *vm, uint32_t ffid);

#endif
