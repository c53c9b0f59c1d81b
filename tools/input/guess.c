/*
** What a file that is no recording seems to be.
*/

#include <string.h>

#include "guess.h"

/* What files begin with. */
static const struct {
  const char *magic;
  size_t n;
  const char *kind;
} guess_magic[] = {
    {"\x1f\x8b", 2, "packed with gzip twice"},
    {"\x28\xb5\x2f\xfd", 4, "packed with zstd twice"},
    {"\xfd"
     "7zXZ",
     5, "packed with xz, which is not read: unpack it first"},
    {"BZh", 3, "packed with bzip2, which is not read: unpack it first"},
    {"PK\3\4", 4, "a zip archive: unpack it first"},
    {"\x7f"
     "ELF",
     4, "an ELF file, a program or a core"},
    {"PERFILE2", 8, "perf.data of perf"},
    {"\x1bLJ", 3, "bytecode of LuaJIT"},
    {"\x1bLua", 4, "bytecode of Lua"},
    {"{", 1, "JSON"},
    {"[", 1, "JSON"},
    {"<!DOCTYPE html", 14, "a page of HTML"},
    {"<!doctype html", 14, "a page of HTML"},
    {"<html", 5, "a page of HTML"},
    {"\x89PNG", 4, "an image"},
};

/* Are all bytes of text? */
static int guess_text(const uint8_t *p, size_t n)
{
  size_t i;
  for (i = 0; i < n; i++)
    if (p[i] != '\n' && p[i] != '\t' && p[i] != '\r' &&
        (p[i] < ' ' || p[i] == 0x7f))
      return 0;
  return n > 0;
}

/* A profile of pprof, unpacked, begins with a type of its samples: field 1, of
** which field 1 is a number.
*/
static int guess_pprof(const uint8_t *p, size_t n)
{
  return n >= 4 && p[0] == 0x0a && p[1] >= 2 && p[1] <= 8 && p[2] == 0x08;
}

const char *lp_guess(const uint8_t *p, size_t n)
{
  size_t i;
  for (i = 0; i < sizeof(guess_magic) / sizeof(guess_magic[0]); i++)
    if (n >= guess_magic[i].n &&
        memcmp(p, guess_magic[i].magic, guess_magic[i].n) == 0)
      return guess_magic[i].kind;
  if (guess_pprof(p, n))
    return "a profile of pprof";
  return guess_text(p, n) ? "text" : NULL;
}
