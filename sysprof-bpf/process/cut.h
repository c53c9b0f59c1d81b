/*
** Why frames of a stack are missing, in words.
*/

#ifndef LS_CUT_H
#define LS_CUT_H

/* The text of a reason LJS_CUT_*: "no unwind table". Static. */
const char *ls_cut_name(unsigned cut);

/* Its key in the statistics of a stream: "truncated_no_unwind_table". CUT is
** less than LJS_CUT_REASONS. Static.
*/
const char *ls_cut_key(unsigned cut);

#endif
