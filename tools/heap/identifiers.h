/*
** Names that the program itself has for functions and metatables: of fields,
** upvalues and locals that hold them.
*/

#ifndef LP_IDENTIFIERS_H
#define LP_IDENTIFIERS_H

#include "idmap.h"
#include "mem.h"

struct LpDump;

/* How something is called. */
typedef struct LpIdentifier {
  uint32_t function; /* Of a prototype: the function that has the name. */
  uint32_t name;     /* The string that is the key; or a name of the graph. */
  uint8_t rank;      /* How much the name says: NAME_* in identifiers.c. */
} LpIdentifier;

typedef struct LpIdentifiers {
  LpIdMap of; /* A prototype, a C function or a table -> number in list. */
  LpIdentifier *list;
  size_t n, cap;
} LpIdentifiers;

/* Find the names in a dump whose graph is sealed. */
void lp_identifiers_open(LpIdentifiers *names, const struct LpDump *d);

/* Free the memory. */
void lp_identifiers_close(LpIdentifiers *names);

/* Append, behind a space, the name of a prototype, of a function in C or of a
** table that is a metatable or that one's __index. Returns 0 if it has none.
*/
int lp_identifiers_add(LpBuf *b, const struct LpDump *d, uint32_t id);

#endif
