/*
** What all fuzz targets do with a stream: read it, check the books, report.
*/

#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "craft.h"
#include "input.h"

/* End the program where something does not hold. */
void must(int holds);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

/* Any bytes as the contents of blocks: a fuzzer would not guess checksums. A
** byte 0xfe ends a block; the one behind it tells how many events were lost
** before the next. C has the prologues.
*/
void fuzz_craft(Craft *c, const uint8_t *p, size_t n);
void fuzz_contents(Craft *c, const uint8_t *p, size_t n);
void fuzz_input(LpInput *in, size_t n);
void fuzz_stream(const void *p, size_t n);

#endif
