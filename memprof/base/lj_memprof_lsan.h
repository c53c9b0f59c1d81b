/*
** Mapped memory with pointers in it, for LeakSanitizer, which looks for them in
** memory of malloc() only.
*/

#ifndef _LJ_MEMPROF_LSAN_H
#define _LJ_MEMPROF_LSAN_H

#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
/* LeakSanitizer's: size bytes at p have pointers in them, or no longer have. */
void __lsan_register_root_region(const void *p, size_t size);
/* See above. */
void __lsan_unregister_root_region(const void *p, size_t size);
#define lj_lsan_root(p, size)   __lsan_register_root_region((p), (size))
#define lj_lsan_unroot(p, size) __lsan_unregister_root_region((p), (size))
#else
#define lj_lsan_root(p, size)   ((void)0)
#define lj_lsan_unroot(p, size) ((void)0)
#endif

#endif
