/*
** Each type of objects and each kind of part, with what is known of them then:
** sizes, paths, names, what keeps what.
*/

#include <string.h>

#include "heap_run.h"
#include "suites.h"

/* The address of object I. */
#define AT(i) (0x7f0000010000 + (i)*0x100ull)

enum { G = 1, KEY, TABLE, OTHER, CODE, CLOSURE, UPVALUE, HELD, COROUTINE };
enum { TRACE = 20, CDATA, UDATA, META, CFUNC, BUFFER, KEY2, NAME, NAMEKEY };

static size_t size_of(const HeapRun *r, uint64_t addr)
{
  return lp_graph_size(&r->heap->dump.graph, heap_id(r, addr));
}

static uint64_t retained_of(const HeapRun *r, uint64_t addr)
{
  return r->heap->dom.retained[heap_id(r, addr)];
}

static uint64_t dominator_of(const HeapRun *r, uint64_t addr)
{
  uint32_t parent = r->heap->dom.parent[heap_id(r, addr)];
  return parent == LP_NONE ? 1 : r->heap->dump.graph.node[parent].addr;
}

/* A closure with an upvalue whose name the prototype has, and what
** that holds.
*/
static void craft_functions(CraftHeap *h)
{
  static const char *const names[] = {"cache", "second"};
  static const uint64_t upvalues[] = {AT(UPVALUE), AT(UPVALUE + 100)};
  craft_code(h, AT(CODE), "@app.lua", 12, names, 2);
  craft_constant(h, AT(KEY));
  craft_closure(h, AT(CLOSURE), AT(CODE), AT(G), upvalues, 2);
  craft_upvalue(h, AT(UPVALUE), 0, AT(HELD));
  craft_upvalue(h, AT(UPVALUE + 100), AT(900), 0);
  craft_table(h, AT(HELD), 64);
}

static void craft_globals(CraftHeap *h)
{
  craft_table(h, AT(G), 1000);
  craft_field(h, AT(KEY), AT(TABLE));
  craft_field(h, AT(KEY2), AT(CLOSURE));
  craft_string(h, AT(KEY), "data");
  craft_string(h, AT(KEY2), "not a name");
  craft_table(h, AT(TABLE), 100);
  craft_item(h, 17, AT(OTHER));
}

/* Ends a dump with globals and a function, and reads it. */
static HeapRun read_program(CraftHeap *h)
{
  HeapRun r;
  craft_heap_root(h, AT(G), "_G");
  craft_globals(h);
  craft_table(h, AT(OTHER), 40);
  craft_functions(h);
  craft_heap_end(h);
  r = heap_read(h);
  ck_assert_int_eq(r.status, 0);
  return r;
}

START_TEST(test_paths)
{
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  r = read_program(&h);
  ck_assert_str_eq(heap_place(&r, AT(G)), "_G");
  ck_assert_str_eq(heap_place(&r, AT(TABLE)), "_G.data");
  ck_assert_str_eq(heap_place(&r, AT(OTHER)), "_G.data[17]");
  ck_assert_str_eq(heap_place(&r, AT(CLOSURE)), "_G[\"not a name\"]");
  ck_assert_str_eq(heap_place(&r, AT(HELD)), "_G[\"not a name\"]:cache");
  ck_assert_str_eq(heap_place(&r, AT(CODE)), "_G[\"not a name\"]<prototype>");
  ck_assert_str_eq(heap_object(&r, AT(CLOSURE)),
                   "function not a name app.lua:12");
  ck_assert_str_eq(heap_object(&r, AT(CODE)),
                   "prototype not a name app.lua:12");
  ck_assert_str_eq(heap_object(&r, AT(KEY)), "string \"data\"");
  ck_assert_uint_eq(dominator_of(&r, AT(HELD)), AT(UPVALUE));
  ck_assert_uint_eq(dominator_of(&r, AT(KEY)), AT(G)); /* A constant, too. */
  ck_assert_uint_eq(retained_of(&r, AT(TABLE)), 140);
  ck_assert_uint_eq(retained_of(&r, AT(UPVALUE)), 48 + 64);
  ck_assert_uint_eq(lp_heap_bytes(r.heap), h.bytes);
  ck_assert_uint_eq(lp_heap_reached(r.heap), h.bytes);
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* A coroutine with a frame, a local and a slot without a name. */
static void craft_stack_holder(CraftHeap *h)
{
  craft_coroutine(h, AT(COROUTINE), 1024, 0);
  craft_frame(h, 33, AT(CLOSURE));
  craft_stackslot(h, 1, "request", AT(OTHER));
  craft_stackslot(h, 2, NULL, AT(CDATA));
  craft_functions(h);
  craft_table(h, AT(OTHER), 40);
  craft_cdata(h, AT(CDATA), 32, AT(CDATA) - 8, 100);
}

START_TEST(test_thread)
{
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(COROUTINE), "main thread");
  craft_stack_holder(&h);
  craft_heap_end(&h);
  r = heap_read(&h);
  ck_assert_int_eq(r.status, 0);
  ck_assert_str_eq(heap_place(&r, AT(OTHER)), "main thread<local request>");
  ck_assert_str_eq(heap_place(&r, AT(CDATA)), "main thread<stack slot 2>");
  ck_assert_str_eq(heap_place(&r, AT(CLOSURE)),
                   "main thread<function app.lua:12>");
  ck_assert_ptr_nonnull(
      strstr(heap_report(&r, "csv", "threads"),
             "thread app.lua:12,main thread,function of line 12 (app.lua:33),"
             "<local request> table of plain values (40B); "
             "<stack slot 2> cdata (32B)\n"));
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* Coroutines with the same stack are one row: how many, and what they keep.
** What is kept by one that another one of them keeps counts once.
*/
START_TEST(test_thread_stacks)
{
  const LpReportOptions by = {.group = 1};
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(COROUTINE), "main thread");
  craft_coroutine(&h, AT(COROUTINE), 1024, 0);
  craft_frame(&h, 33, AT(CLOSURE));
  craft_stackslot(&h, 1, "request", AT(OTHER));
  craft_functions(&h);
  craft_coroutine(&h, AT(OTHER), 512, 0);
  craft_frame(&h, 33, AT(CLOSURE));
  craft_stackslot(&h, 1, "next", AT(CDATA));
  craft_coroutine(&h, AT(CDATA), 256, 0);
  craft_frame(&h, 34, AT(CLOSURE));
  craft_heap_end(&h);
  r = heap_read(&h);
  ck_assert_int_eq(r.status, 0);
  ck_assert_str_eq(heap_report_opt(&r, "csv", "threads", &by),
                   "retained,retained-percent,bytes,threads,name,stack\n"
                   "2208,100,1536,2,main thread,"
                   "function of line 12 (app.lua:33)\n"
                   "256,11.5942,256,1,main thread<local request><local next>,"
                   "function of line 12 (app.lua:34)\n");
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* A function has the name of its definition, whoever holds it, if that has one.
** What is defined need not be there.
*/
START_TEST(test_defined)
{
  static const char *const name[] = {"app.start", ""};
  static const char *const said[] = {"function app.start app.lua:12",
                                     "function app.lua:12"};
  size_t i;
  for (i = 0; i < 2; i++) {
    CraftHeap h;
    HeapRun r;
    craft_heap_open(&h, 64);
    craft_heap_defined(&h, AT(CODE), name[i]);
    craft_heap_defined(&h, AT(NAME), "nothing");
    r = read_program(&h);
    ck_assert_str_eq(heap_object(&r, AT(CLOSURE)), said[i]);
    heap_run_close(&r);
    craft_heap_close(&h);
  }
}
END_TEST

/* An object of a class: userdata with a metatable that has __name. */
static void craft_class(CraftHeap *h)
{
  craft_table(h, AT(META), 80);
  craft_field(h, AT(NAMEKEY), AT(NAME));
  craft_string(h, AT(NAMEKEY), "__name");
  craft_string(h, AT(NAME), "FILE*");
  craft_userdata(h, AT(UDATA), 96, 0, AT(META), AT(BUFFER));
}

START_TEST(test_rest)
{
  static const uint64_t upvalue = AT(UDATA);
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(TRACE), "traces");
  craft_heap_root(&h, AT(CFUNC), "registry");
  craft_heap_ctype(&h, 9, 0x00000000, 4, "");
  craft_heap_ctype(&h, 100, 0x30000009, 40, "");
  craft_jit(&h, AT(TRACE), 7);
  craft_constant(&h, AT(CDATA));
  craft_cdata(&h, AT(CDATA), 56, 0, 100);
  craft_class(&h);
  craft_cclosure(&h, AT(CFUNC), 1, 0x400000, &upvalue, 1);
  craft_link(&h, "a \"link\"", AT(HELD));
  craft_table(&h, AT(HELD), 64);
  craft_heap_vmpart(&h, 500, "string table");
  h.making = -8;
  craft_heap_end(&h);
  r = heap_read(&h);
  ck_assert_int_eq(r.status, 0);
  ck_assert_str_eq(heap_place(&r, AT(CDATA)), "traces<constant>");
  ck_assert_str_eq(heap_place(&r, AT(UDATA)), "registry:upvalue 1");
  ck_assert_str_eq(heap_place(&r, AT(META)), "registry:upvalue 1<metatable>");
  ck_assert_str_eq(heap_place(&r, AT(HELD)), "registry<a \\\"link\\\">");
  heap_report(&r, "csv", "shapes");
  ck_assert_ptr_nonnull(strstr(r.text.s, ",userdata FILE*\n"));
  ck_assert_ptr_nonnull(strstr(r.text.s, ",cdata int32_t[10]\n"));
  ck_assert_ptr_nonnull(
      strstr(heap_report(&r, "text", "summary"), " bytes in all\n"));
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* What is about to be freed counts, but has no shape. What it refers to may be
** gone.
*/
START_TEST(test_garbage)
{
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(G), "_G");
  craft_table(&h, AT(G), 1000);
  h.dead = 1;
  craft_table(&h, AT(TABLE), 100);
  craft_item(&h, 1, AT(500));
  h.dead = 0;
  craft_table(&h, AT(OTHER), 300); /* Not reached. */
  craft_heap_end(&h);
  r = heap_read(&h);
  ck_assert_int_eq(r.status, 0);
  ck_assert_uint_eq(lp_heap_reached(r.heap), 1000);
  ck_assert_uint_eq(r.heap->dump.garbage.bytes, 100);
  ck_assert_str_eq(heap_place(&r, AT(TABLE)), "(unreachable)");
  ck_assert_str_eq(heap_place(&r, AT(OTHER)), "(unreachable)");
  ck_assert_ptr_nonnull(
      strstr(heap_report(&r, "csv", "types"), "1400,100,3,400,2,table\n"));
  ck_assert_ptr_nonnull(strstr(heap_report(&r, "text", "summary"),
                               "is garbage that was not collected yet"));
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* A trace had objects in registers: what is not reached may be one of these. */
START_TEST(test_registers)
{
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(G), "_G");
  craft_table(&h, AT(G), 1000);
  h.dead = 1;
  craft_table(&h, AT(TABLE), 100);
  h.dead = 0;
  craft_table(&h, AT(OTHER), 300); /* Not reached. */
  h.flags = LJM_HEAP_REGISTERS;
  craft_heap_end(&h);
  r = heap_read(&h);
  ck_assert_int_eq(r.status, 0);
  ck_assert_ptr_nonnull(strstr(heap_report(&r, "csv", "types"),
                               "1400,100,3,100,1,300,1,table\n"));
  ck_assert_ptr_nonnull(
      strstr(heap_report(&r, "csv", "shapes"), "\n1000,71.4286,1,1000,"));
  heap_report(&r, "text", "summary");
  ck_assert_ptr_nonnull(strstr(r.text.s,
                               "21.4% (300B) is unknown: objects may be in "
                               "registers alone\n"
                               "  7.1% (100B) is garbage that was not "
                               "collected yet;"));
  ck_assert_ptr_nonnull(
      strstr(r.text.s, "LEAK SUSPECTS, of 1000B known to be in use\n  100.0%"));
  ck_assert_ptr_nonnull(
      strstr(heap_report(&r, "heapsnapshot", NULL), "\"(unknown)\""));
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* The VM was making an object: no root reaches it, nor what it refers to. All
** else that is not reached is garbage.
*/
START_TEST(test_making)
{
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(G), "_G");
  craft_table(&h, AT(G), 1000);
  craft_table(&h, AT(TABLE), 300);
  craft_item(&h, 1, AT(OTHER));
  craft_table(&h, AT(OTHER), 200);
  craft_table(&h, AT(HELD), 500);
  craft_heap_making(&h, AT(G)); /* It is reached. */
  craft_heap_making(&h, AT(TABLE));
  craft_heap_end(&h);
  r = heap_read(&h);
  ck_assert_int_eq(r.status, 0);
  ck_assert_uint_eq(lp_heap_reached(r.heap), 1000);
  ck_assert_ptr_nonnull(strstr(heap_report(&r, "csv", "types"),
                               "2000,100,4,500,1,500,2,table\n"));
  ck_assert_ptr_nonnull(strstr(heap_report(&r, "text", "summary"),
                               "25.0% (500B) is unknown: the VM may have been "
                               "making it\n"
                               "  25.0% (500B) is garbage that was not "
                               "collected yet;"));
  ck_assert_ptr_nonnull(
      strstr(heap_report(&r, "heapsnapshot", NULL), "\"(not reached)\""));
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* Strings that the VM never frees are kept by it. */
START_TEST(test_fixed)
{
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 4);
  craft_string_of(&h, AT(KEY), 40, LJM_STRING_FIXED, 9, "__ne", 4);
  craft_string_of(&h, AT(KEY2), 25, 0, 0, "", 0);
  craft_heap_end(&h);
  r = heap_read(&h);
  ck_assert_str_eq(heap_place(&r, AT(KEY)), "the VM");
  ck_assert_str_eq(heap_object(&r, AT(KEY)), "string \"__ne\"");
  ck_assert_str_eq(heap_place(&r, AT(KEY2)), "(unreachable)");
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* Sizes of 4 GiB and more are kept exactly. */
START_TEST(test_large)
{
  static const uint64_t size[] = {UINT32_MAX - 1ull, UINT32_MAX, 1ull << 32,
                                  (5ull << 32) + 12345, (1ull << 40) + 1};
  size_t i, n = sizeof(size) / sizeof(size[0]);
  uint64_t sum = 0;
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  for (i = 0; i < n; i++) {
    CraftTable t = {.addr = AT(i + 1), .size = size[i]};
    craft_heap_root(&h, AT(i + 1), "large");
    craft_table_of(&h, &t);
    sum += size[i];
  }
  craft_heap_end(&h);
  r = heap_read(&h);
  ck_assert_int_eq(r.status, 0);
  for (i = 0; i < n; i++) {
    ck_assert_uint_eq(size_of(&r, AT(i + 1)), size[i]);
    ck_assert_uint_eq(retained_of(&r, AT(i + 1)), size[i]);
  }
  ck_assert_uint_eq(lp_heap_reached(r.heap), sum);
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

Suite *suite_heap_objects(void)
{
  const TTest *tests[] = {test_paths,     test_thread, test_thread_stacks,
                          test_defined,   test_rest,   test_garbage,
                          test_registers, test_making, test_fixed,
                          test_large,     NULL};
  return suite_of("heap_objects", tests);
}
