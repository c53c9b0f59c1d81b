/*
** A table of sites: equal sites have the same number.
*/

#ifndef LS_SITETABLE_H
#define LS_SITETABLE_H

#include "sites.h"

typedef struct LsSiteTable LsSiteTable;

/* An empty table, which the caller closes. NULL without memory. */
LsSiteTable *ls_sitetable_open(void);

/* Free the table with all sites. T may be NULL. */
void ls_sitetable_close(LsSiteTable *t);

/* The number of a site, from 1 on. A new site is copied, with its strings.
** Returns 0 without memory.
*/
uint32_t ls_sitetable_add(LsSiteTable *t, const LsSite *s);

/* Site number ID, or NULL. It belongs to T, and is valid until a site is
** added.
*/
const LsSite *ls_sitetable_get(const LsSiteTable *t, uint32_t id);

#endif
