/*
** Allocation that exits the program on failure, and growing strings.
*/

#ifndef LP_MEM_H
#define LP_MEM_H

#include <stddef.h>
#include <stdint.h>

/* N bytes, not cleared. Exits the program if there is no memory. */
void *lp_alloc(size_t n);

/* N cleared elements of SIZE bytes. Exits as lp_alloc does. */
void *lp_zalloc(size_t n, size_t size);

/* Resize P to N elements of SIZE bytes. Exits as lp_alloc does. */
void *lp_realloc(void *p, size_t n, size_t size);

/* A copy of a C string, which the caller frees. */
char *lp_strdup(const char *s);

/* Resize P to at least NEED elements of SIZE bytes; *CAP is the number that
** fit. New elements are cleared. P may move; exits as lp_alloc does.
*/
void *lp_grow(void *p, size_t *cap, size_t need, size_t size);

#define LP_LINE 64 /* Bytes of a line of cache. */

/* As lp_grow, aligned to LP_LINE bytes. New elements are not cleared. */
void *lp_grow_lines(void *p, size_t *cap, size_t need, size_t size);

/* A string that grows; always ends with a NUL that N does not count. */
typedef struct LpBuf {
  char *s;
  size_t n;
  size_t cap;
} LpBuf;

/* Append N bytes. */
void lp_buf_add(LpBuf *b, const void *s, size_t n);

/* Append a C string. */
void lp_buf_puts(LpBuf *b, const char *s);

/* Append what printf would print. */
void lp_buf_printf(LpBuf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Append a text in at most WIDTH columns, at least 4: two dots replace the
** middle of a longer one. Bytes that continue a character of UTF-8 take none.
*/
void lp_buf_middle(LpBuf *b, const char *s, size_t width);

/* Free the memory. The string is empty then. */
void lp_buf_free(LpBuf *b);

#endif
