/*
** The numbers of a VM's library functions (ffid).
**
** The VM makes each library of a list of bytes: the number of its first
** function, two sizes, and the names of functions, in order of their numbers,
** between other things. A byte in front of a name has its length and what it
** is.
*/

#include <stdbool.h>
#include <string.h>

#include "vmlib.h"

#define LIB_LENGTH 0x3f /* Of a name. */
#define LIB_STRING 0xc0 /* No function, or one of: */
#define LIB_LUA    0xf9 /* A function in bytecode, which has no number. */
#define LIB_NUMBER 0xfb /* 8 bytes. */
#define LIB_COPY   0xfc /* A byte. */
#define LIB_FFID   0xfe /* A number is left out. */
#define LIB_END    0xff
#define LIB_FIRST  0xfa /* Of those that are no names. */

#define LIB_HEADER 3 /* In front of all: the number, and two sizes. */

#define LUA_MAX 512 /* Bytes of a function in bytecode. */

/* NULL: no function of the library, but one that it makes; only its number is
** left out.
*/
static const char *const lib_name[LS_FNS] = {
    "assert",       "type",         "next",     "pairs",   "",        "ipairs",
    "getmetatable", "setmetatable", "getfenv",  "setfenv", "rawget",  "rawset",
    "rawequal",     "abs",          "floor",    "ceil",    "sqrt",    "log10",
    "exp",          "sin",          "cos",      "tan",     "asin",    "acos",
    "atan",         "sinh",         "cosh",     "tanh",    "frexp",   "modf",
    "log",          "atan2",        "pow",      "fmod",    "ldexp",   "min",
    "max",          "tobit",        "bnot",     "bswap",   "lshift",  "rshift",
    "arshift",      "rol",          "ror",      "band",    "bor",     "bxor",
    "byte",         "char",         "sub",      "rep",     "reverse", "lower",
    "upper",        "dump",         "find",     "match",   NULL,      "gmatch",
    "gsub",         "format",       "maxn",     "insert",  "concat",  "unpack",
    "select",       "tonumber",     "tostring", "error",   "pcall",   "xpcall"};

/* Libraries: their first functions, and what function in bytecode is in front
** of that, if one is. What goes on the first one, behind a function that not
** all builds have, is like one more.
*/
static const struct {
  uint8_t fn;
  const char *lua;
} lib[] = {{LS_FN_ASSERT, NULL}, {LS_FN_ABS, NULL},        {LS_FN_TOBIT, NULL},
           {LS_FN_BYTE, "len"},  {LS_FN_MAXN, "foreachi"}, {LS_FN_UNPACK, NULL},
           {LS_FNS, NULL}};

#define LIB_MORE  5        /* The number of that, */
#define LIB_MAYBE "rawlen" /* and the function. */

/* A list of bytes. */
typedef struct List {
  const uint8_t *p, *end;
} List;

/* Whether a name is next, whatever it is of. */
static bool list_named(const List *l, const char *name)
{
  size_t n = strlen(name);
  return (size_t)(l->end - l->p) > n && (l->p[0] & LIB_LENGTH) == n &&
         memcmp(l->p + 1, name, n) == 0;
}

/* Whether the function FN is next. */
static bool list_is(const List *l, unsigned fn)
{
  if (!lib_name[fn])
    return *l->p == LIB_FFID;
  return *l->p < LIB_STRING && list_named(l, lib_name[fn]);
}

/* Go on behind a function in bytecode, to FN. Its length is not known. */
static void list_skiplua(List *l, unsigned fn)
{
  const uint8_t *end = l->end - l->p > LUA_MAX ? l->p + LUA_MAX : l->end;
  do
    l->p++;
  while (l->p < end && !list_is(l, fn) && *l->p != LIB_LUA);
}

/* Go on to the next function, which should be FN. Returns false if it is not,
** or its number does not follow that of the one in front.
*/
static bool list_next(List *l, unsigned fn)
{
  while (l->p < l->end && l->p[0] >= LIB_STRING && !list_is(l, fn)) {
    uint8_t tag = *l->p;
    if (tag == LIB_FFID || tag == LIB_END)
      return false;
    if (tag == LIB_LUA)
      list_skiplua(l, fn);
    else if (tag >= LIB_FIRST)
      l->p += tag == LIB_NUMBER ? 9 : tag == LIB_COPY ? 2 : 1;
    else
      l->p += 1 + (tag & LIB_LENGTH);
    if (l->p > l->end)
      l->p = l->end;
  }
  return l->p < l->end && list_is(l, fn);
}

/* Whether all functions of library I are next. */
static bool lib_follows(List *l, unsigned i)
{
  unsigned fn;
  for (fn = lib[i].fn; fn < lib[i + 1].fn; fn++) {
    if (!list_next(l, fn))
      return false;
    l->p += 1 + (lib_name[fn] ? strlen(lib_name[fn]) : 0);
  }
  return true;
}

/* Whether library I begins at the list's, behind its numbers. The list is what
** is behind it then.
*/
static bool lib_begins(List *l, unsigned i)
{
  if (lib[i].lua) {
    if (*l->p++ != LIB_LUA || !list_named(l, lib[i].lua))
      return false;
    list_skiplua(l, lib[i].fn);
  } else if (!list_is(l, lib[i].fn)) {
    return false;
  }
  return lib_follows(l, i);
}

/* The number of the first function of what goes on the first library, which is
** in front of a list and begins with number FIRST; 0 if it does not.
*/
static uint8_t lib_more(List *l, uint8_t first)
{
  uint32_t number = first + lib[1].fn - lib[0].fn;
  if (!list_next(l, lib[LIB_MORE].fn) && l->p < l->end &&
      list_named(l, LIB_MAYBE)) {
    l->p += 1 + strlen(LIB_MAYBE);
    number++;
  }
  return number <= UINT8_MAX && lib_follows(l, LIB_MORE) ? (uint8_t)number : 0;
}

/* Find library I in the bytes from P up to END: add how often it is there to
** *FOUND. Its number is the last one's.
*/
static void lib_find(const uint8_t *p, const uint8_t *end, unsigned i,
                     struct ljs_vm *vm, unsigned *found)
{
  const char *name = lib[i].lua ? lib[i].lua : lib_name[lib[i].fn];
  size_t n = strlen(name), front = LIB_HEADER + (lib[i].lua ? 2 : 1);
  const uint8_t *start = p, *at;
  for (; (at = memmem(p, (size_t)(end - p), name, n)) != NULL; p = at + 1) {
    const uint8_t *head = at - front;
    List l = {head + LIB_HEADER, end};
    if ((size_t)(at - start) < front || !lib_begins(&l, i))
      continue;
    ++*found;
    vm->library[i] = *head;
    if (i == 0)
      vm->library[LIB_MORE] = lib_more(&l, *head);
  }
}

void ls_vm_libraries(const LsElf *e, struct ljs_vm *vm)
{
  LsSegment seg[LS_ELF_SEGMENTS];
  size_t n = ls_elf_segments(e, seg), i, rest;
  unsigned k;
  for (k = 0; k < LIB_MORE; k++) {
    unsigned found = 0;
    for (i = 0; i < n; i++) {
      const uint8_t *p = ls_elf_rest(e, seg[i].addr, &rest);
      if (p)
        lib_find(p, p + rest, k, vm, &found);
    }
    if (found != 1)
      vm->library[k] = 0;
  }
  if (vm->library[0] == 0)
    vm->library[LIB_MORE] = 0;
}

unsigned ls_vm_function(const struct ljs_vm *vm, uint32_t ffid)
{
  unsigned k;
  for (k = 0; k < LJS_LIBRARIES; k++) {
    uint32_t first = vm->library[k], n = lib[k + 1].fn - lib[k].fn;
    if (first > 0 && ffid >= first && ffid - first < n)
      return lib[k].fn + (ffid - first);
  }
  return LS_FNS;
}
