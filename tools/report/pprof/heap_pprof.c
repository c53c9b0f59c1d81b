/*
** --format=pprof of a heap dump: the dominator tree. A frame is an object, or
** objects of one shape, and its callers keep it. So what pprof adds up for a
** frame is what it retains, and what it has itself is the objects' own.
*/

#include <inttypes.h>
#include <stdlib.h>

#include "heap/heap_report.h"
#include "heap/page/heap_boxes.h"
#include "pprof_out.h"
#include "text.h"

typedef struct HeapPprof {
  LpPprof to;
  LpBoxes boxes;
  uint32_t *id; /* By label: its location's and function's, 0 if not written. */
  uint32_t n;
} HeapPprof;

/* What a frame is called: how it is reached, and what it is. */
static void pprof_name(LpBuf *b, const LpBoxes *boxes, uint32_t label)
{
  size_t size, n;
  const LpBoxLabel *l = lp_intern_get(&boxes->names.labels, label, &size);
  const char *s = lp_intern_get(&boxes->names.texts, l->step, &n);
  lp_buf_add(b, s, n);
  lp_buf_puts(b, n ? " = " : "");
  s = lp_intern_get(&boxes->names.texts, l->name, &n);
  lp_buf_add(b, s, n);
}

/* The id of a label's location; its function has the same. */
static uint64_t pprof_location(HeapPprof *p, uint32_t label)
{
  LpBuf msg = {0}, part = {0}, name = {0};
  uint64_t text;
  if (p->id[label])
    return p->id[label];
  p->id[label] = ++p->n;
  pprof_name(&name, &p->boxes, label);
  text = lp_pprof_string(&p->to, name.n ? name.s : "?");
  /* Of a name that is the system's name as well, pprof leaves out <...>. */
  lp_pb_number(&msg, FUNCTION_ID, p->n);
  lp_pb_number(&msg, FUNCTION_NAME, text);
  lp_pprof_field(&p->to, PROFILE_FUNCTION, &msg);
  lp_pb_number(&part, LINE_FUNCTION, p->n);
  lp_pb_number(&msg, LOCATION_ID, p->n);
  lp_pb_message(&msg, LOCATION_LINE, &part);
  lp_pprof_field(&p->to, PROFILE_LOCATION, &msg);
  lp_buf_free(&msg);
  lp_buf_free(&part);
  lp_buf_free(&name);
  return p->n;
}

/* Write a box: the way to it in the tree, and what it has itself. */
static void pprof_box(HeapPprof *p, uint32_t at)
{
  const LpBox *box = p->boxes.box;
  LpBuf stack = {0}, values = {0}, msg = {0};
  lp_pb_varint(&values, box[at].of[LP_NOW].objects);
  lp_pb_varint(&values, box[at].of[LP_NOW].bytes);
  for (; box[at].label != LP_NONE; at = box[at].parent)
    lp_pb_varint(&stack, pprof_location(p, box[at].label));
  lp_pb_message(&msg, SAMPLE_LOCATIONS, &stack);
  lp_pb_message(&msg, SAMPLE_VALUES, &values);
  lp_pprof_field(&p->to, PROFILE_SAMPLE, &msg);
  lp_buf_free(&stack);
  lp_buf_free(&values);
  lp_buf_free(&msg);
}

/* What the samples count. */
static void pprof_head(HeapPprof *p)
{
  LpBuf b = {0};
  lp_pprof_type(&p->to, PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
  lp_pprof_type(&p->to, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
  lp_pprof_number(&p->to, PROFILE_DEFAULT_TYPE,
                  lp_pprof_string(&p->to, "inuse_space"));
  lp_pprof_type(&p->to, PROFILE_PERIOD_TYPE, "space", "bytes");
  lp_pprof_number(&p->to, PROFILE_PERIOD, 1);
  lp_pprof_number(&p->to, PROFILE_TIME,
                  p->boxes.heaps.h[LP_NOW]->dump.origin.realtime);
  lp_buf_puts(&b, "lj-parse-memprof " LP_VERSION);
  lp_pprof_comment(&p->to, &b);
  lp_buf_puts(&b, "Heap dump: frames are kept by their callers, and what is "
                  "added up for one is what it retains");
  lp_pprof_comment(&p->to, &b);
  lp_buf_puts(&b, "What retains less than ");
  lp_text_size(&b, p->boxes.least, 1);
  lp_buf_puts(&b,
              p->boxes.full ? ", and larger parts of this large heap, " : " ");
  lp_buf_puts(&b, "is added up as (others)");
  lp_pprof_comment(&p->to, &b);
  lp_buf_free(&b);
}

/* The dominator tree, with its ways as stacks. */
static void heap_write(LpOut *out, const LpSubject *subject,
                       const LpReportOptions *opt)
{
  HeapPprof p = {.n = 0};
  uint32_t i;
  lp_boxes_open(&p.boxes, subject->heap, NULL, opt);
  p.id = lp_zalloc(p.boxes.names.labels.n, sizeof(*p.id));
  lp_pprof_open(&p.to, out);
  pprof_head(&p);
  for (i = 0; i < p.boxes.n; i++)
    if (p.boxes.box[i].label != LP_NONE)
      pprof_box(&p, i);
  lp_pprof_close(&p.to);
  lp_boxes_close(&p.boxes);
  free(p.id);
}

const LpReport lp_report_heap_pprof = {.format = "pprof",
                                       .binary = 1,
                                       .of = LP_OF_HEAP,
                                       .takes = LP_TAKES_MIN,
                                       .write = heap_write};
