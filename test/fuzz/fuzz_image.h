/*
** What fuzz targets do with an ELF file, and one made of a section's bytes.
*/

#ifndef FUZZ_IMAGE_H
#define FUZZ_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "mem.h"

#define IMAGE_CODE  0x10000 /* Where the made file's code is, ... */
#define IMAGE_SIZE  0x10000 /* ... how much there is of it, ... */
#define IMAGE_FRAME 0x2000  /* ... and where .eh_frame is. */

/* Read all that is in the file of N bytes, and check what comes out. */
void fuzz_image(const void *p, size_t n);

/* Make an ELF file without sections whose .eh_frame has N bytes. */
void fuzz_image_make(LpBuf *b, const void *p, size_t n);

#endif
