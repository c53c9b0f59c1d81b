/*
** stack
*/

#define lj_memprof_stack_c
#define LUA_CORE

#include "lj_memprof.h"
