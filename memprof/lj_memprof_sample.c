/*
** sample
*/

#define lj_memprof_sample_c
#define LUA_CORE

#include "lj_memprof.h"
