/*
** Which IR instructions the machine code of a trace is of.
**
** The compiler makes the code of one IR instruction after the other, so that
** each has a block, and blocks have the order of the IR. Where they begin is
** not kept; but what code an instruction needs, and what it cannot have, is
** known. Of all ways to divide the code into blocks, those that are possible
** are followed; a machine instruction is of each block that it is in then.
*/

#include <stdlib.h>
#include <string.h>

#include "irblocks.h"
#include "irshape.h"
#include "irstep.h"

#define BLOCKS_MAX (1u << 20) /* Blocks times places where they may begin. */

/* A block: of an IR instruction, or of none, as in front of them. */
typedef struct Block {
  uint32_t ref; /* 0: of none. */
  LsShape shape;
  uint32_t latest; /* It begins there, or in front of that: behind it must be
                   ** what this block and those behind it need. */
} Block;

typedef struct Blocks {
  const LsStretch *s;
  Block *b;        /* And one more, for the end. */
  uint32_t n, ins; /* How many blocks and machine instructions. */
  uint16_t *class; /* Of machine instructions. */
  uint8_t *reach;  /* For each block, and one more: where it may begin, */
  uint8_t *go;     /* and the rest be divided. */
  uint32_t loop;   /* LOOP, or 0, */
  uint32_t after;  /* and the first machine instruction behind it. */
} Blocks;

/* What was met in a block up to some place. */
typedef struct Met {
  unsigned exits, once;
  bool must, set;
} Met;

static bool met_enough(const Met *m, const LsShape *s)
{
  return m->exits >= s->exits && (m->must || s->must == 0) &&
         (m->set || s->reg == LS_NREG);
}

/* Add a machine instruction. Returns false if it cannot be in the block. */
static bool met_add(Met *m, const LsShape *s, uint16_t class,
                    const LsCodeIns *c)
{
  if (!(s->may & class))
    return false;
  if (class == LS_SHAPE_EXIT && ++m->exits > s->most)
    return false;
  if (class & s->once && ++m->once > 1)
    return false;
  m->must = m->must || class & s->must;
  m->set = m->set || (s->reg != LS_NREG && ls_shape_sets(c, s->reg));
  return true;
}

/* Whether a block may have machine instruction I of the stretch. */
static bool block_there(const Blocks *k, const Block *b, uint32_t i)
{
  if (k->loop == 0 || b->ref == 0 || b->ref == k->loop)
    return true;
  return b->ref < k->loop ? i < k->after : i >= k->after;
}

/* Where block I may end if it begins at FROM: set END for each such place. The
** last one that is in MAY is returned, or -1; without MAY, the last one.
*/
static int64_t block_ends(const Blocks *k, uint32_t i, uint32_t from,
                          const uint8_t *may, uint8_t *end, uint32_t *steps)
{
  const Block *b = &k->b[i];
  const LsCodeIns *c = k->s->c->ins + k->s->first;
  Met m = {0};
  int64_t last = -1;
  uint32_t at;
  for (at = from; at <= b[1].latest && *steps > 0; at++) {
    --*steps;
    if (met_enough(&m, &b->shape) && (!may || may[at])) {
      last = at;
      if (end)
        end[at] = 1;
    }
    if (at == k->ins || !block_there(k, b, at) ||
        !met_add(&m, &b->shape, k->class[at], &c[at]))
      break;
  }
  return last;
}

/* Follow all ways from the beginning. */
static void blocks_forward(Blocks *k, uint32_t *steps)
{
  uint32_t i, at, first = 0, row = k->ins + 1;
  k->reach[0] = 1;
  for (i = 0; i < k->n; i++) {
    const uint8_t *reach = k->reach + (size_t)i * row;
    while (first < row && !reach[first])
      first++;
    for (at = first; at <= k->b[i].latest; at++)
      if (reach[at])
        block_ends(k, i, at, NULL, k->reach + (size_t)(i + 1) * row, steps);
  }
}

/* What machine instruction AT is of, if it is in block I; NULL if of nothing. A
** call at the head of all code, or of the loop, is the collector's step, as is
** that of GCSTEP, for which there is none at the head.
*/
static const LsClaim *block_claim(const Blocks *k, uint32_t i, uint32_t at,
                                  const LsClaim *claim)
{
  uint32_t ref = k->b[i].ref;
  bool head = ref == 0 ? i == 0 && k->s->head
                       : k->s->t->ins[ref - LS_REF_BIAS].op == LS_IR_GCSTEP;
  bool loop = ref != 0 && ref == k->loop;
  if ((head || loop) && k->class[at] == LS_SHAPE_CALL)
    return &k->s->step[loop ? LS_STEP_LOOP : LS_STEP_HEAD];
  return ref ? &claim[ref - LS_REF_BIAS] : NULL;
}

/* Follow them back from the end, and add to OUT what blocks are of. */
static void blocks_back(Blocks *k, const LsClaim *claim, uint32_t *steps,
                        LsClaim *out)
{
  uint32_t i, at, row = k->ins + 1;
  k->go[(size_t)k->n * row + k->ins] = 1;
  for (i = k->n; i-- > 0;) {
    uint32_t done = 0;
    for (at = 0; at <= k->b[i].latest; at++) {
      int64_t last;
      if (!k->reach[(size_t)i * row + at])
        continue;
      last = block_ends(k, i, at, k->go + (size_t)(i + 1) * row, NULL, steps);
      if (last < 0)
        continue;
      k->go[(size_t)i * row + at] = 1;
      for (done = at > done ? at : done; done < last; done++) {
        const LsClaim *c = block_claim(k, i, done, claim);
        if (c)
          ls_claim_join(&out[done], c);
      }
    }
  }
}

/* List the blocks of a stretch. */
static void blocks_list(Blocks *k)
{
  const LsStretch *s = k->s;
  uint32_t ref;
  if (s->head)
    k->b[k->n++] = (Block){.shape = LS_SHAPE_ANY};
  for (ref = s->ref; ref < s->end; ref++) {
    const LsIns *ins = &s->t->ins[ref - LS_REF_BIAS];
    k->b[k->n].ref = ref;
    if (ls_shape_get(ins, ref > LS_REF_BIAS ? ins - 1 : NULL,
                     &k->b[k->n].shape))
      k->n++;
    if (ins->op == LS_IR_LOOP && s->t->mcloop) {
      k->loop = ref;
      k->after = ls_code_at(s->c, s->t->mcloop);
      k->after -= k->after > s->first ? s->first : k->after;
    }
  }
  if (s->tail)
    k->b[k->n++] = (Block){.shape = LS_SHAPE_ANY};
}

/* Go back from FROM to a machine instruction of a class. Returns 0 if there is
** none: then nothing is possible.
*/
static uint32_t blocks_class(const Blocks *k, uint16_t class, uint32_t from)
{
  while (from-- > 0)
    if (k->class[from] & class)
      return from;
  return 0;
}

/* Find the latest beginnings of all blocks. */
static void blocks_latest(Blocks *k)
{
  uint32_t at[LS_SHAPES], i, class, need, latest = k->ins;
  for (class = 0; class < LS_SHAPES; class ++)
    at[class] = k->ins;
  k->b[k->n].latest = latest;
  for (i = k->n; i-- > 0;) {
    const LsShape *s = &k->b[i].shape;
    for (class = 0; class < LS_SHAPES; class ++) {
      uint16_t bit = (uint16_t)(1u << class);
      need = bit == LS_SHAPE_EXIT ? s->exits : s->must == bit;
      for (; need > 0; need--)
        at[class] = blocks_class(k, bit, at[class]);
      if (at[class] < latest)
        latest = at[class];
    }
    k->b[i].latest = latest;
  }
}

/* All of a stretch could be of anything. */
static void blocks_fail(const Blocks *k, LsClaim *out)
{
  uint32_t i;
  for (i = 0; i < k->ins; i++)
    out[i] = (LsClaim){.functions = true, .lines = true};
}

void ls_blocks_read(const LsStretch *s, const LsClaim *claim, uint32_t *steps,
                    LsClaim *out)
{
  Blocks k = {.s = s, .ins = s->last - s->first};
  size_t nref = s->end - s->ref + 3, row = k.ins + 1ul;
  uint32_t i;
  out += s->first;
  if (k.ins == 0)
    return;
  if (nref * row <= BLOCKS_MAX) {
    k.b = malloc(nref * sizeof(*k.b));
    k.class = malloc(k.ins * sizeof(*k.class));
    k.reach = calloc(2 * (nref + 1), row);
  }
  if (k.b && k.class && k.reach) {
    k.go = k.reach + (nref + 1) * row;
    for (i = 0; i < k.ins; i++)
      k.class[i] = ls_shape_class(s->t, &s->c->ins[s->first + i]);
    blocks_list(&k);
    blocks_latest(&k);
    blocks_forward(&k, steps);
    blocks_back(&k, claim, steps, out);
  }
  if (!k.go || *steps == 0 || !k.go[0])
    blocks_fail(&k, out);
  free(k.b);
  free(k.class);
  free(k.reach);
}
