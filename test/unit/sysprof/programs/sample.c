/*
** A library to be read, not to be called: every kind of symbol and of call
** frame information that is rare, at addresses that tests know by `sample`.
*/

/* clang-format off */
__asm__(
#ifdef SAMPLE_DEBUG_FRAME
"  .cfi_sections .debug_frame\n"
#else
"  .cfi_sections .eh_frame\n"
#endif
"  .text\n"
"  .p2align 6\n"
"  .globl sample, plain, __plain, labels\n"
"  .weak weak_plain, many_weak\n"
"sample:\n" /* No size, and nothing of it is left. */
"plain: __plain: weak_plain: local_plain:\n"
"  .cfi_startproc\n"
"  push %rbx\n"                       /* 0 */
"  .cfi_adjust_cfa_offset 8\n"
"  .cfi_rel_offset %rbx, 0\n"
"  mov %rsp, %rbx\n"                  /* 1 */
"  .cfi_def_cfa_register %rbx\n"
"inside:\n"
"  nop\n"                             /* 4 */
"  .cfi_remember_state\n"
"  .cfi_register %rbx, %r12\n"
"  nop\n"                             /* 5 */
"  .cfi_restore_state\n"
"  nop\n"                             /* 6 */
"  .cfi_def_cfa %r10, 0\n"
"  nop\n"                             /* 7 */
"  .cfi_def_cfa %rbp, 0x1230\n"
"  .cfi_restore %rbx\n"
"  .cfi_offset %rbp, -0x9000\n"       /* Too far for a row. */
"  ret\n"                             /* 8 */
"  .cfi_endproc\n"
"  .size plain, .-plain\n"
"  .size __plain, .-__plain\n"
"  .size weak_plain, .-weak_plain\n"
"  .size local_plain, .-local_plain\n"
"  .type plain, @function\n"
"  .type __plain, @function\n"
"  .type weak_plain, @function\n"
"  .type local_plain, @function\n"
"  .p2align 6\n"
"many_weak: many_local:\n"            /* 64: realigned. */
"  .cfi_startproc\n"
"  .cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n"
"  nop\n"                             /* 64 */
"  nop\n"                             /* 65: the same. */
"  .cfi_def_cfa %rsp, 24\n"
"inner:\n"
"  nop\n"                             /* 66 */
"  .cfi_escape 0x16, 0x10, 2, 0x77, 0\n" /* Value of rip: by expression. */
"  .size inner, .-inner\n"
"  nop\n"                             /* 67 */
"  .cfi_undefined %rip\n"
"  nop\n"                             /* 68 */
"  .cfi_endproc\n"
"  .size many_weak, .-many_weak\n"
"  .size many_local, .-many_local\n"
"  .type many_weak, @function\n"
"  .type many_local, @function\n"
"  .type inner, @function\n"
"  .p2align 6\n"
"labels:\n"                           /* 128 */
"  .cfi_startproc\n"
"  .cfi_signal_frame\n"
"  nop\n"
"  nop\n"
"  .cfi_endproc\n"
"next_label:\n"                       /* 130: nothing is known. */
"  nop\n"
"  .data\n"
"  .globl data\n"
"data: .quad 0\n"
"  .size data, 8\n"
"  .type data, @object\n"
"  .section .note.GNU-stack,\"\",@progbits\n");
/* clang-format on */
