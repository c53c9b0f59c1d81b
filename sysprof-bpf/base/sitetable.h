/*
** Sites, each with a number: the same place is the same number.
*/

#ifndef LS_SITETABLE_H
#define LS_SITETABLE_H

#include "sites.h"

typedef struct LsSiteTable LsSiteTable;

LsSiteTable *ls_sitetable_open(void);
void ls_sitetable_close(LsSiteTable *t);
uint32_t ls_sitetable_add(LsSiteTable *t, const LsSite *s);
const LsSite *ls_sitetable_get(const LsSiteTable *t, uint32_t id);

#endif
