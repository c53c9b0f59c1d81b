/*
** Names of functions by the tables in which a program finds them: which of
** several one has. The recorder and the sampler name alike by this.
**
** Header only, without state. Names are looked for in package.loaded and among
** the globals, with up to two tables in front: f, module.f, module.table.f. The
** name of the lowest rank is taken; of several the shortest, and of those the
** first by its bytes. So the order of a hash table does not matter.
*/

#ifndef _LJM_NAME_H
#define _LJM_NAME_H

#include <stdint.h>
#include <string.h>

#define LJM_FIELD_MAX   200  /* Names of functions are not longer. */
#define LJM_NAME_NODES  4096 /* Tables with more nodes hold data. */
#define LJM_NAME_TABLES 2    /* Most tables in front of a name. */

/* What is known of a function's names. */
typedef struct LjmNaming {
  const char *name; /* The best one, or NULL; its bytes are the caller's. */
  uint64_t fn;      /* The first closure with a name of this rank. */
  unsigned rank;
  int fns, fields; /* There are other closures, and other fields. */
} LjmNaming;

/* True if the key of a field, of n bytes, is an identifier: others are data. */
static inline int ljm_name_isfield(const char *s, size_t n)
{
  size_t i;
  for (i = 0; i < n; i++)
    if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
          s[i] == '_' || (i > 0 && s[i] >= '0' && s[i] <= '9')))
      return 0;
  return n > 0;
}

/* True for LuaJIT's own modules. The name has n bytes. */
static inline int ljm_name_isstandard(const char *module, size_t n)
{
  static const char own[] = "bit coroutine debug ffi io jit jit.opt jit.profile"
                            " jit.util math os package string string.buffer"
                            " table thread";
  const char *p;
  size_t len;
  for (p = own; *p != '\0'; p += len + (p[len] == ' ')) {
    len = strcspn(p, " ");
    if (len == n && memcmp(p, module, n) == 0)
      return 1;
  }
  return 0;
}

/*
** How little a name says, by the module and the number of tables in front of
** it. A builtin is known by LuaJIT's own name of it, other functions better by
** any table than by a global alias.
*/
static inline unsigned ljm_name_rank(int builtin, const char *module,
                                     unsigned tables)
{
  if (tables == 1 && ljm_name_isstandard(module, strlen(module)))
    return 0;
  if (tables == 0)
    return builtin ? 1 : LJM_NAME_TABLES + 2;
  return tables + 1;
}

/*
** The same of a module that is a function: "table.new" is LuaJIT's own name of
** it, as "string.rep" is.
*/
static inline unsigned ljm_name_modulerank(const char *module)
{
  const char *dot = strrchr(module, '.');
  return dot != NULL && ljm_name_isstandard(module, (size_t)(dot - module)) ? 0
                                                                            : 2;
}

/* The last part of a name. */
static inline const char *ljm_name_field(const char *name)
{
  const char *dot = strrchr(name, '.');
  return dot ? dot + 1 : name;
}

/*
** Adds a name that leads to the closure fn. Returns 1 if it is the best one: it
** must stay where it is as long as nm is used, or be set to a copy.
*/
static inline int ljm_name_offer(LjmNaming *nm, unsigned rank, uint64_t fn,
                                 const char *name)
{
  size_t have, len;
  if (nm->name == NULL || rank < nm->rank) {
    nm->name = name;
    nm->fn = fn;
    nm->rank = rank;
    nm->fns = nm->fields = 0;
    return 1;
  }
  if (rank > nm->rank)
    return 0;
  nm->fns |= fn != nm->fn;
  nm->fields |= strcmp(ljm_name_field(name), ljm_name_field(nm->name)) != 0;
  have = strlen(nm->name);
  len = strlen(name);
  if (len > have || (len == have && strcmp(name, nm->name) >= 0))
    return 0;
  nm->name = name;
  return 1;
}

/*
** The name, or NULL. Several closures of one function under several fields are
** what it serves, as a dispatcher does: none of them is its name.
*/
static inline const char *ljm_name_get(const LjmNaming *nm)
{
  return nm->fns && nm->fields ? NULL : nm->name;
}

#endif
