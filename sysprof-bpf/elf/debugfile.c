/*
** Separate files with the symbols of a stripped file.
**
** Names of files and their bytes come from processes that are sampled. Paths in
** the root directory of such a process are resolved there: a symbolic link must
** not lead out of it.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef LS_LZMA
#include <lzma.h>
#endif

#include "debugfile.h"
#include "file.h"
#include "symbols.h"

#define DEBUG_MAX_FILE (64ll << 20) /* Bytes whose checksum is computed. */
#define DEBUG_MAX_MINI (64u << 20)  /* Bytes of unpacked symbols. */
#define DEBUG_GLOBAL   "/usr/lib/debug"

/* -- Files ---------------------------------------------------------------- */

/* The CRC-32 of a file. Returns -1 if it is too large, or cannot be read. */
static int debug_crc(int fd, uint32_t *out)
{
  static uint8_t buf[1 << 16];
  uint32_t crc = UINT32_MAX;
  int64_t at = 0;
  ssize_t n, i;
  int bit;
  while ((n = pread(fd, buf, sizeof(buf), at)) > 0 && at < DEBUG_MAX_FILE) {
    for (i = 0; i < n; i++)
      for (crc ^= buf[i], bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    at += n;
  }
  *out = ~crc;
  return n == 0 ? 0 : -1;
}

/* Whether two files have the same build-id: -1 if one has none. */
static int debug_same(const LsElf *e, const LsElf *debug)
{
  uint8_t id[64], other[64];
  size_t n = ls_elf_buildid(e, id), m = ls_elf_buildid(debug, other);
  if (!n || !m)
    return -1;
  return n == m && memcmp(id, other, n) == 0;
}

/* -- Where they are ------------------------------------------------------- */

/* The path of a file, which the caller frees; NULL without memory. */
static char *debug_path(const char *place, LsDebugHow how, const char *name)
{
  static const char *const where[][2] = {[LS_DEBUG_BESIDE] = {"", ""},
                                         [LS_DEBUG_FOLDER] = {"", "/.debug"},
                                         [LS_DEBUG_TREE] = {DEBUG_GLOBAL, ""}};
  const char *end = strrchr(place, '/');
  char *path = NULL;
  int n = end ? (int)(end - place) : 0, len;
  if (how == LS_DEBUG_ID)
    len = asprintf(&path, "%s/%.2s/%s.debug", ls_symbols_debug, name, name + 2);
  else
    len = asprintf(&path, "%s%.*s%s/%s", where[how][0], n, place, where[how][1],
                   name);
  return len < 0 ? NULL : path;
}

int ls_debugfile_find(const char *root, const char *place, LsDebugHow how,
                      const char *name)
{
  char *path;
  int fd, err;
  if (how > LS_DEBUG_TREE || strlen(name) < (how == LS_DEBUG_ID ? 3 : 1) ||
      strchr(name, '/') || strcmp(name, "..") == 0) {
    errno = EINVAL;
    return -1;
  }
  path = debug_path(place, how, name);
  fd = path ? ls_file_open(*root ? root : "/", path) : -1;
  err = path ? errno : ENOMEM;
  free(path);
  errno = err;
  return fd;
}

LsDebugOpener *ls_debugfile_opener = ls_debugfile_find;

/* The file NAME, if it belongs to E: by the build-id, or by the checksum *CRC
** if that is not NULL.
*/
static LsElf *debug_try(const LsElf *e, const char *root, LsDebugHow how,
                        const char *name, const uint32_t *crc)
{
  const char *unused, *place = ls_elf_placed(e, &unused);
  int fd = ls_debugfile_opener(root, place, how, name), same;
  LsElf *debug = fd < 0 ? NULL : ls_elf_open(fd);
  uint32_t sum;
  if (debug) {
    same = debug_same(e, debug);
    if (same < 0)
      same = crc && debug_crc(fd, &sum) == 0 && sum == *crc;
    if (!same) {
      ls_elf_close(debug);
      debug = NULL;
    }
  }
  if (fd >= 0)
    close(fd);
  return debug;
}

/* The file of symbols by its build-id, or NULL. */
static LsElf *debug_by_id(const LsElf *e, const char *root)
{
  char hex[2 * 64 + 1];
  uint8_t id[64];
  size_t n = ls_elf_buildid(e, id), i;
  for (i = 0; i < n; i++)
    snprintf(hex + 2 * i, 3, "%02x", id[i]);
  return n < 2 ? NULL : debug_try(e, root, LS_DEBUG_ID, hex, NULL);
}

/* The link: the name of a file, without a directory, and its checksum. */
static const char *debug_link(const LsElf *e, uint32_t *crc)
{
  LsSection s;
  size_t i, n;
  const char *name;
  if (ls_elf_named(e, ".gnu_debuglink", &i, &s) || ls_elf_load(e, i, &s) ||
      s.n < 8 || s.n > 4096)
    return NULL;
  name = (const char *)s.p;
  n = strnlen(name, s.n);
  if (!n || n / 4 * 4 + 8 > s.n)
    return NULL;
  memcpy(crc, s.p + n / 4 * 4 + 4, sizeof(*crc));
  return name;
}

/* The same by the name in .gnu_debuglink, beside the file or in the tree. */
static LsElf *debug_by_link(const LsElf *e, const char *root)
{
  const char *unused, *place = ls_elf_placed(e, &unused), *name;
  LsDebugHow how;
  LsElf *debug = NULL;
  uint32_t crc;
  if (!strchr(place, '/') || !(name = debug_link(e, &crc)))
    return NULL;
  for (how = LS_DEBUG_BESIDE; !debug && how <= LS_DEBUG_TREE; how++)
    debug = debug_try(e, root, how, name, &crc);
  return debug;
}

LsElf *ls_debugfile_open(const LsElf *e)
{
  const char *root;
  LsElf *debug = NULL;
  ls_elf_placed(e, &root);
  if (*root)
    debug = debug_by_id(e, root);
  if (!debug)
    debug = debug_by_id(e, "");
  if (!debug && *root)
    debug = debug_by_link(e, root);
  if (!debug)
    debug = debug_by_link(e, "");
  return debug;
}

/* -- In the file itself --------------------------------------------------- */

#ifdef LS_LZMA

LsElf *ls_debugfile_mini(const LsElf *e)
{
  uint64_t memory = DEBUG_MAX_MINI;
  size_t i, in = 0, out = 0;
  LsElf *mini = NULL;
  LsSection s;
  uint8_t *p;
  if (ls_elf_named(e, ".gnu_debugdata", &i, &s) || ls_elf_load(e, i, &s))
    return NULL;
  p = malloc(DEBUG_MAX_MINI);
  if (p && lzma_stream_buffer_decode(&memory, 0, NULL, s.p, &in, s.n, p, &out,
                                     DEBUG_MAX_MINI) == LZMA_OK)
    mini = ls_elf_memory(p, out);
  free(p);
  return mini;
}

#else

LsElf *ls_debugfile_mini(const LsElf *e)
{
  (void)e;
  return NULL;
}

#endif
