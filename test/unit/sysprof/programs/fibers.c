/*
** Stacks that a program makes by hand: "fibers KIND" goes on one and asks for a
** file "mark:KIND" to be removed there.
*/

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

/* What has no unwind data: the compiler writes none of it here. */
__asm__("  .text\n"
        "  .p2align 4\n"
        "go:\n" /* On the stack rdi, the function rsi, which returns to rdx. */
        "  mov %rdi, %rsp\n"
        "  push %rdx\n"
        "  jmp *%rsi\n"
        "finish:\n"
        "  xor %edi, %edi\n"
        "  call _exit@PLT\n"
        "  hlt\n"
        "  .p2align 4\n"
        "bare:\n" /* Calls rdi. */
        "  sub $8, %rsp\n"
        "  call *%rdi\n"
        "  add $8, %rsp\n"
        "  ret\n"
        "  .p2align 4\n"
        "never:\n" /* Likewise, but does not return. */
        "  sub $8, %rsp\n"
        "  call *%rdi\n"
        "  call abort@PLT\n"
        "  hlt\n"
        "  .p2align 4\n"
        "  nop\n"
        "returns:\n" /* The same with unwind data. */
        "  .cfi_startproc\n"
        "  sub $8, %rsp\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  call abort@PLT\n"
        "  add $8, %rsp\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  ret\n"
        "  .cfi_endproc\n");

_Noreturn void go(void *stack, void (*f)(void), uintptr_t to);
void finish(void);
void bare(void (*f)(void));
void never(void (*f)(void));
void returns(void);

static const char *kind;

static void mark(void)
{
  char path[64];
  snprintf(path, sizeof(path), "mark:%s", kind);
  unlink(path);
  _exit(0);
}

/* A frame, so that the bottom is not the first caller. */
static __attribute__((noinline)) void work(void)
{
  mark();
  __asm__ volatile("");
}

static _Alignas(16) char stack[65536]; /* All zero. */
static ucontext_t back, there;

/* Goes on the stack, at whose bottom is the address TO. */
static void begin(uintptr_t to)
{
  go(stack + sizeof(stack) - 64, work, to);
}

static int is(const char *s)
{
  return strcmp(kind, s) == 0;
}

int main(int argc, char **argv)
{
  kind = argc > 1 ? argv[1] : "";
  if (is("finish"))
    begin((uintptr_t)finish);
  if (is("function"))
    begin((uintptr_t)returns);
  if (is("coco"))
    begin(0xdeaddeaddeaddeadull);
  if (is("zero"))
    begin(0);
  if (is("garbage"))
    begin(0x1234567);
  if (is("bare_start")) /* What follows it returns: nobody knows to where. */
    begin((uintptr_t)bare);
  if (is("bare"))
    bare(work);
  if (is("never"))
    never(work);
  if (is("ucontext") && getcontext(&there) == 0) {
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof(stack);
    there.uc_link = &back;
    makecontext(&there, work, 0);
    swapcontext(&back, &there);
  }
  return 0;
}
