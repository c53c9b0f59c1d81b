/*
** Streams made by hand, for tests: version 0x10 by its registers, the old
** versions byte by byte. Knows the documents, not the reader.
*/

#ifndef CRAFT_H
#define CRAFT_H

#include <stdint.h>

#include "ljm_format.h"

#include "mem.h"

typedef struct Craft {
  LpBuf out;                     /* What is finished. */
  LpBuf block;                   /* The payload that is being made. */
  uint64_t site[4], alloc, free; /* The registers. */
  uint64_t allocsize[LJM_ALLOCSIZES], freesize[LJM_FREESIZES];
  uint64_t events; /* In finished blocks, */
  uint64_t fresh;  /* and in this one. */
  uint64_t allocs, reallocs, frees, in, out_bytes, live;
  uint64_t ns;
  uint64_t stack, sample;       /* Settings, to be made before craft_meta, */
  uint64_t realtime, monotonic; /* as are these, of when it began. */
  unsigned type;                /* Of allocations from here on. */
  unsigned sampled; /* LJM_SAMPLED_* of reallocations from here on. */
  int foreign;      /* Events from here on are outside of the VM's count. */
  int tells;        /* TOTALS tell of those, of which there were so many: */
  uint64_t fallocs, freallocs, ffrees, fin, fout;
} Craft;

/* -- Version 0x10 --------------------------------------------------------- */

void craft_open(Craft *c, uint64_t vm);
void craft_meta(Craft *c, uint64_t live);
void craft_proto(Craft *c, uint64_t id, unsigned flags, uint64_t hash,
                 uint64_t first, const char *chunk, const char *name);
void craft_cflags(Craft *c, uint64_t id, unsigned flags, uint64_t offset,
                  const char *module, const char *symbol);
void craft_cnamed(Craft *c, uint64_t id, uint64_t offset, const char *module,
                  const char *name, const char *symbol);
void craft_cfunc(Craft *c, uint64_t id, uint64_t offset, const char *module,
                 const char *symbol);
void craft_trace(Craft *c, uint64_t id, uint64_t no, uint64_t func,
                 uint64_t line);
void craft_site(Craft *c, uint64_t id, unsigned flags, uint64_t func,
                uint64_t line);
void craft_time(Craft *c, uint64_t ns);
void craft_record(Craft *c, unsigned code, const void *p, size_t n);
void craft_alloc(Craft *c, uint64_t site, uint64_t addr, uint64_t size);
void craft_free(Craft *c, uint64_t site, uint64_t addr, uint64_t size);
void craft_realloc(Craft *c, uint64_t site, uint64_t oaddr, uint64_t osize,
                   uint64_t naddr, uint64_t nsize);
void craft_change_of(Craft *c, uint64_t pops, const uint64_t *site, size_t n);
void craft_stack_of(Craft *c, unsigned flags, const uint64_t *site, size_t n);
void craft_totals(Craft *c, unsigned flags, uint64_t lost);
void craft_flush(Craft *c);
void craft_close(Craft *c);

/* -- CPU profiles (craft_cpu.c) ------------------------------------------- */

/* A pair of the books. */
typedef struct CraftBook {
  const char *key;
  uint64_t value;
} CraftBook;

void craft_open_cpu(Craft *c);
void craft_meta_cpu(Craft *c, uint64_t hz);
void craft_module(Craft *c, uint64_t id, const char *buildid, const char *path);
void craft_native(Craft *c, uint64_t id, unsigned flags, uint64_t module,
                  uint64_t addr, const char *symbol);
void craft_named(Craft *c, uint64_t id, unsigned flags, const char *symbol);
void craft_process(Craft *c, uint64_t id, uint64_t pid, const char *command);
/* The same in a control group, which older streams do not have. */
void craft_process_in(Craft *c, uint64_t id, uint64_t pid, const char *command,
                      const char *cgroup);
void craft_thread(Craft *c, uint64_t id, uint64_t process, uint64_t tid,
                  const char *name);
void craft_sample(Craft *c, unsigned flags, uint64_t thread, uint64_t count);
void craft_books(Craft *c, const CraftBook *book, size_t n);

/* -- Lists ---------------------------------------------------------------- */

/* Lists of sites may be empty: there is a number in front of them. */
#define CRAFT_LIST(...) ((const uint64_t[]){0, ##__VA_ARGS__} + 1)
#define CRAFT_LEN(...)  (sizeof((const uint64_t[]){0, ##__VA_ARGS__}) / 8 - 1)
#define craft_change(c, pops, ...)                                             \
  craft_change_of(c, pops, CRAFT_LIST(__VA_ARGS__), CRAFT_LEN(__VA_ARGS__))
#define craft_stack(c, flags, ...)                                             \
  craft_stack_of(c, flags, CRAFT_LIST(__VA_ARGS__), CRAFT_LEN(__VA_ARGS__))

/* -- Any version ---------------------------------------------------------- */

uint64_t craft_random(uint64_t n);

void craft_byte(LpBuf *b, unsigned byte);
void craft_uleb(LpBuf *b, uint64_t v);
void craft_str(LpBuf *b, const char *s);

/* -- Versions 1 to 3 ------------------------------------------------------ */

void craft_old_open(LpBuf *b, unsigned version);
void craft_old_lua(LpBuf *b, unsigned head, uint64_t addr, const char *chunk,
                   uint64_t line);
void craft_old_body(LpBuf *b, unsigned version);
void craft_old_numbers(LpBuf *b, unsigned head, const uint64_t *v, size_t n);

/* An event or a symbol: a header and numbers. */
#define craft_old_event(b, head, ...)                                          \
  craft_old_numbers(b, head, (const uint64_t[]){__VA_ARGS__},                  \
                    sizeof((const uint64_t[]){__VA_ARGS__}) /                  \
                        sizeof(uint64_t))

#endif
