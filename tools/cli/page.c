/*
** Where a report goes: a terminal, page by page or painted in place, or not a
** terminal.
*/

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fit.h"
#include "page.h"
#include "pager.h"

/* -- Lines ---------------------------------------------------------------- */

/* Add a line of N bytes to the frame: it is cut, and only so many have room. */
static void page_paint(LpPage *p, const char *s, size_t n)
{
  if (p->rows + 2 >= p->screen.rows) {
    p->more++;
    return;
  }
  p->rows++;
  lp_fit_line(&p->frame, s, n, p->screen.columns);
  lp_buf_puts(&p->frame, "\033[K\n");
}

/* Add a line of N bytes to TO, or to the frame. */
static void page_line(LpPage *p, LpBuf *to, const char *s, size_t n)
{
  if (p->paint) {
    page_paint(p, s, n);
  } else if (p->wrap) {
    lp_fit_wrap(to, s, n, p->screen.columns);
  } else {
    lp_buf_add(to, s, n);
    lp_buf_puts(to, "\n");
  }
}

/* Replace the bytes in OUT by what the terminal gets of their lines. What
** follows the last newline is kept until the line ends, or all LAST does.
*/
static void page_lines(LpPage *p, LpOut *out, int last)
{
  LpBuf to = {0};
  char *s, *end;
  lp_buf_add(&p->line, out->buf.s, out->buf.n);
  s = p->line.s;
  while (s && (end = memchr(s, '\n', p->line.n - (size_t)(s - p->line.s)))) {
    page_line(p, &to, s, (size_t)(end - s));
    s = end + 1;
  }
  if (s) {
    p->line.n -= (size_t)(s - p->line.s);
    memmove(p->line.s, s, p->line.n);
  }
  if (last && p->line.n)
    page_line(p, &to, p->line.s, p->line.n);
  lp_buf_free(&out->buf);
  out->buf = to;
}

/* -- The screen ----------------------------------------------------------- */

/* The frame is complete. The cursor is hidden during this one write only, so
** it is visible whatever ends the program.
*/
static void page_frame(LpPage *p, LpOut *out)
{
  LpBuf *b = &out->buf;
  lp_buf_puts(b, "\033[?25l\033[H");
  if (p->frame.n)
    lp_buf_add(b, p->frame.s, p->frame.n);
  if (p->more)
    lp_buf_printf(b, "(%zu more lines)\033[K\n", p->more);
  lp_buf_puts(b, "\033[J\033[?25h");
}

/* Is the text longer than the screen? The prompt has one row. */
static int page_long(const LpPage *p, const LpBuf *b)
{
  size_t rows = 1;
  const char *s = b->s;
  while (s && (s = memchr(s, '\n', b->n - (size_t)(s - b->s)))) {
    rows++;
    s++;
  }
  return rows > p->screen.rows;
}

/* Called before the buffer of OUT is written. */
static void page_before(LpOut *out, int last)
{
  LpPage *p = out->ctx;
  if (p->wrap || p->paint)
    page_lines(p, out, last);
  if (p->paint && last)
    page_frame(p, out);
  if (p->page && page_long(p, &out->buf)) {
    int fd = lp_pager_start(&p->pager);
    out->fd = fd < 0 ? out->fd : fd;
  }
  p->page = 0;
}

void lp_page_open(LpPage *p, LpOut *out)
{
  if (!p->screen.rows)
    return;
  out->before = page_before;
  out->ctx = p;
}

void lp_page_close(LpPage *p, LpOut *out)
{
  lp_buf_free(&p->line);
  lp_buf_free(&p->frame);
  if (!p->pager)
    return;
  close(out->fd);
  lp_pager_wait(p->pager);
  out->fd = STDOUT_FILENO;
  if (out->error == EPIPE)
    out->error = 0;
}
