/*
** The forms of snapshots. There are three, by LuaJIT's history: the first one
** of 2.1 until January 2019, then with a map of more than 64K entries, and
** since March 2021 with the offset of the code. No version number tells them
** apart, but a trace does: the parts of the map follow one another without a
** gap, from its beginning to its end, and no other form of the same bytes has
** that.
*/

#include <stdlib.h>

#include "luasnapform.h"

/* Offsets in bytes, but for the first, which all begin with. */
typedef struct Form {
  uint8_t size;    /* Of a snapshot. */
  uint8_t mapsize; /* Of the number of its first entry. */
  uint8_t ref, mcofs, nslots, nent;
  bool counts16; /* The trace counts both in 16 bits, side by side. */
} Form;

static const Form form_all[] = {
    {.size = 12, .mapsize = 4, .ref = 4, .mcofs = 6, .nslots = 8, .nent = 10},
    {.size = 12, .mapsize = 4, .ref = 4, .nslots = 6, .nent = 8},
    {.size = 8,
     .mapsize = 2,
     .ref = 2,
     .nslots = 4,
     .nent = 6,
     .counts16 = true},
};
#define FORMS (sizeof(form_all) / sizeof(form_all[0]))

/* By so many bytes code is shortened at its end when its offsets are known. */
#define FORM_TAIL 32

/* A number of 2 or 4 bytes. */
static uint32_t form_number(const uint8_t *p, unsigned size)
{
  uint32_t n = p[0] | (uint32_t)p[1] << 8;
  return size == 2 ? n : n | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Whether a snapshot can be one that follows LAST, which is zero before the
** first.
*/
static bool form_follows(const LsIr *t, const LsRawSnap *s, uint8_t nslots,
                         const LsRawSnap *last)
{
  uint32_t pc = t->v->vm.gc64 ? 2 : 1, part = s->end - s->map;
  if (s->map != last->end || s->end < s->map || part < s->nent + pc ||
      (t->v->vm.gc64 && part != s->nent + pc))
    return false;
  return s->ref >= LS_REF_BIAS && s->ref >= last->ref && s->ref <= t->nins &&
         s->nent <= nslots && nslots > 0 && s->mcofs >= last->mcofs &&
         s->mcofs <= t->szmcode + FORM_TAIL && (last->end > 0 || s->mcofs == 0);
}

/* Take the bytes for snapshots of a form. Returns false if they are none. */
static bool form_agrees(const Form *f, const LsIr *t, const uint8_t *p,
                        uint32_t nsnap, uint32_t nsnapmap, LsRawSnap *out)
{
  LsRawSnap last = {0};
  uint32_t i;
  for (i = 0; i < nsnap; i++, p += f->size) {
    LsRawSnap *s = &out[i];
    s->map = form_number(p, f->mapsize);
    s->end = i + 1 < nsnap ? form_number(p + f->size, f->mapsize) : nsnapmap;
    s->ref = (uint16_t)form_number(p + f->ref, 2);
    s->mcofs = f->mcofs ? (uint16_t)form_number(p + f->mcofs, 2) : 0;
    s->nent = p[f->nent];
    if (!form_follows(t, s, p[f->nslots], &last))
      return false;
    last = *s;
  }
  return true;
}

/* How many snapshots, and entries of their map, a trace has by a form. */
static void form_counts(const Form *f, const LsIr *t, uint32_t *nsnap,
                        uint32_t *nsnapmap)
{
  *nsnap = f->counts16 ? t->nsnapmap & 0xffff : t->nsnap;
  *nsnapmap = f->counts16 ? t->nsnapmap >> 16 : t->nsnapmap;
}

/* Read the snapshots by one form. NULL if they are of another one. */
static LsRawSnap *form_try(const Form *f, const LsIr *t)
{
  uint32_t nsnap, nsnapmap;
  LsRawSnap *out = NULL;
  uint8_t *p;
  form_counts(f, t, &nsnap, &nsnapmap);
  if (nsnap == 0 || nsnapmap < nsnap || nsnapmap > LS_SNAPMAP_MAX)
    return NULL;
  p = malloc((size_t)nsnap * f->size);
  out = p ? calloc(nsnap, sizeof(*out)) : NULL;
  if (out && (!ls_remote_get(t->v->mem, t->snap, p, (size_t)nsnap * f->size) ||
              !form_agrees(f, t, p, nsnap, nsnapmap, out))) {
    free(out);
    out = NULL;
  }
  free(p);
  return out;
}

LsRawSnap *ls_snapform_read(LsIr *t, bool *offsets)
{
  LsRawSnap *out = NULL;
  const Form *found = NULL;
  bool was = t->v->mem->bad; /* By a wrong form they may be anywhere. */
  unsigned i;
  for (i = 0; i < FORMS; i++) {
    LsRawSnap *s = form_try(&form_all[i], t);
    t->v->mem->bad = was;
    if (s && out) { /* Two of them: neither is proven. */
      free(s);
      free(out);
      return NULL;
    }
    if (s) {
      out = s;
      found = &form_all[i];
    }
  }
  if (!found)
    return NULL;
  form_counts(found, t, &t->nsnap, &t->nsnapmap);
  *offsets = found->mcofs != 0;
  return out;
}
