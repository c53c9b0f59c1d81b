/*
** Names in legacy formats: maps addresses to the sink's functions and sites.
**
** An address may be defined again. If what is there now is the same as before,
** nothing changes, however often it is said; if not, it is another function.
*/

#include <string.h>

#include "legacy_names.h"

void lp_legacy_names_close(LegacyNames *ln)
{
  unsigned src;
  for (src = 0; src <= LEGACY_TRACE; src++)
    lp_idmap_free(&ln->func[src]);
}

/* The key of a function: traces have a number and, in version 2, an address. */
static uint64_t legacy_key(LegacySource src, uint64_t a, uint64_t b)
{
  return src == LEGACY_TRACE ? a ^ b << 16 : a;
}

void lp_legacy_define(LegacyNames *ln, LegacySource src, uint64_t a, uint64_t b,
                      const LpFunc *f)
{
  uint32_t number = ln->sink->func(ln->sink->ctx, f);
  uint64_t key = legacy_key(src, a, b);
  if (lp_idmap_put(&ln->func[src], key, number) != number)
    ln->stale = 1;
}

uint32_t lp_legacy_function(const LegacyNames *ln, LegacySource src, uint64_t a,
                            uint64_t b)
{
  return lp_idmap_get(&ln->func[src], legacy_key(src, a, b));
}

/* A function of which nothing is known but where it is. */
static uint32_t legacy_nameless(LegacyNames *ln, LegacySource src, uint64_t a,
                                uint64_t b)
{
  LpFunc f = {.addr = a};
  if (src == LEGACY_TRACE) {
    f.kind = LP_FUNC_TRACE;
    f.traceno = a;
    f.addr = b;
  } else {
    f.kind = src == LEGACY_LUA ? LP_FUNC_LUA_ADDR : LP_FUNC_C_ADDR;
  }
  return ln->sink->func(ln->sink->ctx, &f);
}

uint32_t lp_legacy_lookup(LegacyNames *ln, LegacySource src, uint64_t a,
                          uint64_t b)
{
  LegacySite *place = lp_legacy_place(ln, a, b);
  LpSite s = {.line = src == LEGACY_LUA ? b : 0};
  if (src == LEGACY_INTERNAL)
    return LP_SITE_INTERNAL;
  if (ln->stale)
    memset(ln->cache, 0, sizeof(ln->cache));
  ln->stale = 0;
  s.func = lp_legacy_function(ln, src, a, b);
  if (s.func == LP_NONE && src == LEGACY_TRACE) /* Defined by number alone? */
    s.func = lp_legacy_function(ln, src, a, 0);
  if (s.func == LP_NONE)
    s.func = legacy_nameless(ln, src, a, b);
  *place = (LegacySite){a, b, src, ln->sink->site(ln->sink->ctx, &s)};
  return place->site;
}
