/*
** Memory that never fails to come (or the program ends), and growing strings.
*/

#ifndef LP_MEM_H
#define LP_MEM_H

#include <stddef.h>
#include <stdint.h>

void *lp_alloc(size_t n);
void *lp_zalloc(size_t n, size_t size);
void *lp_realloc(void *p, size_t n, size_t size);
char *lp_strdup(const char *s);
void *lp_grow(void *p, size_t *cap, size_t need, size_t size);

#define LP_LINE 64 /* Bytes of a line of cache. */
void *lp_grow_lines(void *p, size_t *cap, size_t need, size_t size);

/* A string that grows; always ends with a NUL that N does not count. */
typedef struct LpBuf {
  char *s;
  size_t n;
  size_t cap;
} LpBuf;

void lp_buf_add(LpBuf *b, const void *s, size_t n);
void lp_buf_puts(LpBuf *b, const char *s);
void lp_buf_printf(LpBuf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void lp_buf_free(LpBuf *b);

#endif
