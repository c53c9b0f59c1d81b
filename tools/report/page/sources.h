/*
** The sources of Lua functions, in the document of a page.
*/

#ifndef LP_SOURCES_H
#define LP_SOURCES_H

#include "json.h"
#include "profile.h"

/* Folders of sources, of the command line. */
typedef struct LpSources {
  const char **dir;
  size_t n;
  size_t room;
} LpSources;

/* Write the member "sources" of the files of N functions, each of which is the
** function of a site of the profile or LP_NONE: files that are in one of the
** folders, as long as there is room for them. Nothing is written if FROM is
** NULL or has no folder.
*/
void lp_json_sources(LpJson *j, const LpProfile *prof, const LpSources *from,
                     const uint32_t *site, uint32_t n);

#endif
