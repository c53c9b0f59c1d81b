/*
** What all fuzz targets do with a stream: read it, check the books, report.
*/

#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "craft.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
void fuzz_contents(Craft *c, const uint8_t *p, size_t n);
void fuzz_input(LpInput *in, size_t n);
void fuzz_stream(const void *p, size_t n);

#endif
