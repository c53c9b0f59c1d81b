/*
** The parts of a frame, for formats that have a field for each of them.
**
** What is not known is an empty string, or 0 is returned. Strings are as
** reports show them: control characters are escaped.
*/

#include <string.h>

#include "frame.h"
#include "label.h"
#include "printable.h"

/* The function of a site. */
static const LpFuncInfo *frame_func(const LpProfile *prof, uint32_t site)
{
  return &prof->func[prof->row[site].func];
}

/* What kind of function it is: lua, c, native, kernel, trace, mark; special, if
** it is none.
*/
const char *lp_frame_kind(const LpProfile *prof, uint32_t site)
{
  switch (frame_func(prof, site)->kind) {
  case LP_FUNC_LUA:
  case LP_FUNC_LUA_ADDR:
    return "lua";
  case LP_FUNC_C:
  case LP_FUNC_C_ADDR:
    return "c";
  case LP_FUNC_TRACE:
    return "trace";
  case LP_FUNC_NATIVE:
    return "native";
  case LP_FUNC_KERNEL:
    return "kernel";
  case LP_FUNC_MARK:
    return "mark";
  default:
    return "special";
  }
}

int lp_frame_line(const LpProfile *prof, uint32_t site, uint64_t *line)
{
  const LpFuncInfo *fi = frame_func(prof, site);
  *line = prof->row[site].line;
  return (fi->kind == LP_FUNC_LUA || fi->kind == LP_FUNC_LUA_ADDR) &&
         lp_label_hasline(prof, site);
}

/* The line where its function is defined, into *LINE. Returns 0 if it has none.
 */
int lp_frame_first(const LpProfile *prof, uint32_t site, uint64_t *line)
{
  const LpFuncInfo *fi = frame_func(prof, site);
  *line = fi->first;
  return fi->kind == LP_FUNC_LUA && !lp_label_builtin(fi);
}

void lp_frame_name(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  const LpFuncInfo *fi = frame_func(prof, site);
  LpStr named = lp_profile_name(prof, fi->named);
  lp_printable(b, named.n ? named : lp_profile_name(prof, fi->name));
}

void lp_frame_file(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  const LpFuncInfo *fi = frame_func(prof, site);
  if (fi->kind == LP_FUNC_LUA && !lp_label_builtin(fi))
    lp_printable_file(b, lp_profile_name(prof, fi->chunk));
}

void lp_frame_path(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  const LpFuncInfo *fi = frame_func(prof, site);
  LpStr chunk = lp_profile_name(prof, fi->chunk);
  if (fi->kind == LP_FUNC_LUA && !lp_label_builtin(fi) && chunk.n > 1 &&
      chunk.s[0] == '@')
    lp_printable(b, (LpStr){chunk.s + 1, chunk.n - 1});
  else
    lp_frame_file(b, prof, site);
}

void lp_frame_module(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  const LpFuncInfo *fi = frame_func(prof, site);
  if (fi->kind == LP_FUNC_C || fi->kind == LP_FUNC_NATIVE)
    lp_printable(b, lp_profile_name(prof, fi->chunk));
}

void lp_frame_buildid(LpBuf *b, const LpProfile *prof, uint32_t site)
{
  LpStr id = lp_profile_name(prof, frame_func(prof, site)->buildid);
  size_t i;
  for (i = 0; i < id.n; i++)
    lp_buf_printf(b, "%02x", (unsigned char)id.s[i]);
}

/* The address of its function in its module's file, into *ADDR. Returns 0 if it
** has none.
*/
int lp_frame_address(const LpProfile *prof, uint32_t site, uint64_t *addr)
{
  const LpFuncInfo *fi = frame_func(prof, site);
  *addr = fi->addr;
  return fi->addr && (fi->kind == LP_FUNC_C || fi->kind == LP_FUNC_NATIVE);
}
