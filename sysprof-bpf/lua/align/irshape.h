/*
** What machine code the compiler makes of an IR instruction.
*/

#ifndef LS_IRSHAPE_H
#define LS_IRSHAPE_H

#include "tracecode.h"

/* Classes of machine instructions. */
enum {
  LS_SHAPE_PLAIN = 1 << 0, /* What any code may have: moves, spills, ... */
  LS_SHAPE_EXIT = 1 << 1,  /* Leaves the trace, or goes on in the loop. */
  LS_SHAPE_CALL = 1 << 2,
  LS_SHAPE_STORE = 1 << 3, /* Not to the C stack. */
  LS_SHAPE_ADD = 1 << 4,   /* Of floating-point numbers. */
  LS_SHAPE_SUB = 1 << 5,
  LS_SHAPE_MUL = 1 << 6,
  LS_SHAPE_DIV = 1 << 7,
  LS_SHAPE_SQRT = 1 << 8,
  LS_SHAPE_ROUND = 1 << 9,
  LS_SHAPE_COMPARE = 1 << 10,
  LS_SHAPE_CONVERT = 1 << 11
};
#define LS_SHAPES    12 /* So many classes there are. */
#define LS_SHAPE_ALL 0xfff

/* The code of an IR instruction. */
typedef struct LsShape {
  uint16_t may;  /* Classes that it may have. */
  uint16_t must; /* It has one of them, */
  uint16_t once; /* and of these not more than one. */
  uint8_t exits; /* At least as many of LS_SHAPE_EXIT, */
  uint8_t most;  /* and at most. */
  uint8_t reg;   /* It sets this register: one of 16, then of XMM0 to 15; or
                 ** LS_NREG. */
} LsShape;

/* Any code, or none. */
#define LS_SHAPE_ANY                                                           \
  (LsShape)                                                                    \
  {                                                                            \
    .may = LS_SHAPE_ALL, .most = UINT8_MAX, .reg = LS_NREG                     \
  }

/* The code that INS has; PREV is the instruction in front of it, or NULL.
** Returns false if it has none.
*/
bool ls_shape_get(const LsIns *ins, const LsIns *prev, LsShape *s);

/* The class of a machine instruction of a trace. */
uint16_t ls_shape_class(const LsIr *t, const LsCodeIns *c);

/* Whether a machine instruction may set a register, as LsShape has it. */
bool ls_shape_sets(const LsCodeIns *c, uint8_t reg);

#endif
