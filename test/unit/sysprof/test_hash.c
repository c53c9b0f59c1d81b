/*
** The hash table, and what is made of it.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "stacks.h"
#include "strpool.h"
#include "suites.h"

#define MANY 10000

typedef struct Entry {
  uint64_t key, value;
} Entry;

static const Entry *find(const LsHash *t, uint64_t key)
{
  return ls_hash_find(t, &key, sizeof(key), sizeof(Entry));
}

static void put(LsHash *t, uint64_t key)
{
  Entry *e = ls_hash_put(t, &key, sizeof(key), sizeof(*e));
  ck_assert_ptr_nonnull(e);
  ck_assert_uint_eq(e->value, 0);
  e->value = key + 1;
}

START_TEST(test_put)
{
  LsHash t = {0};
  uint64_t i;
  ck_assert_ptr_null(find(&t, 0));
  for (i = 0; i < MANY; i++) {
    ck_assert_ptr_null(find(&t, i << 32));
    put(&t, i << 32);
  }
  ck_assert_uint_eq(t.n, MANY);
  for (i = 0; i < MANY; i++) {
    ck_assert_ptr_eq(find(&t, i << 32), (const Entry *)t.entry + i);
    ck_assert_uint_eq(find(&t, i << 32)->value, (i << 32) + 1);
  }
  ls_hash_clear(&t);
  ck_assert_ptr_null(find(&t, 0));
  put(&t, 7);
  ck_assert_ptr_nonnull(find(&t, 7));
  ls_hash_free(&t);
}
END_TEST

/* Entries of one hash are all found, each once. */
START_TEST(test_same_hash)
{
  LsHash t = {0};
  uint32_t at = 0, i, id;
  char found[101] = "";
  for (i = 0; i < 100; i++)
    ck_assert_ptr_nonnull(ls_hash_add(&t, ~0ull, sizeof(Entry)));
  for (i = 0; i < 100; i++) {
    id = ls_hash_next(&t, ~0ull, &at);
    ck_assert_uint_ge(id, 1);
    ck_assert_uint_le(id, 100);
    ck_assert_int_eq(found[id]++, 0);
  }
  ck_assert_uint_eq(ls_hash_next(&t, ~0ull, &at), 0);
  ls_hash_free(&t);
}
END_TEST

START_TEST(test_pool)
{
  LsPool p = {0}, ids = {0};
  const char *empty = ls_pool_add(&p, "", 0), *a = ls_pool_add(&p, "a\0b", 3);
  ck_assert_mem_eq(a, "a\0b", 4);
  ck_assert_str_eq(empty, "");
  ck_assert_ptr_eq(ls_pool_add(&p, NULL, 0), empty);
  ck_assert_ptr_eq(ls_pool_add(&p, "a\0b", 3), a);
  ck_assert_ptr_ne(ls_pool_add(&p, "a\0c", 3), a);
  ck_assert_uint_eq(ls_pool_id(&ids, "x", 1, 5), 5);
  ck_assert_uint_eq(ls_pool_id(&ids, "y", 1, 6), 6);
  ck_assert_uint_eq(ls_pool_id(&ids, "x", 1, 7), 5);
  ls_pool_free(&p);
  ls_pool_free(&ids);
}
END_TEST

/* Stacks that were not sent for two turns are dropped, the others stay. */
START_TEST(test_stacks)
{
  LsStacks t = {0};
  struct ljs_key key = {.pid = 1};
  uint32_t site;
  for (site = 1; site <= MANY; site++) {
    key.key = site;
    ck_assert_int_eq(ls_stacks_add(&t, &key, 0, &site, 1), 0);
  }
  ls_stacks_turn(&t, 0);
  for (key.key = 3; key.key <= MANY; key.key += 3)
    ck_assert_int_eq(ls_stacks_seen(&t, &key), 1);
  ls_stacks_turn(&t, 0);
  ck_assert_uint_eq(t.table.n, MANY / 3);
  ck_assert_uint_eq(t.sites, MANY / 3);
  for (key.key = 1; key.key <= MANY; key.key++) {
    LsNamedStack *s = ls_stacks_find(&t, &key);
    ck_assert_int_eq(s != NULL, key.key % 3 == 0);
    ck_assert(!s || *s->site == key.key);
  }
  ls_stacks_clear(&t);
}
END_TEST

/* A thread has its last name; many that are gone are forgotten. */
START_TEST(test_thread_names)
{
  LsStacks t = {0};
  struct ljs_key key = {.pid = 1};
  char name[LJS_NAME];
  for (key.tid = 1; key.tid <= MANY; key.tid++) {
    memset(name, 'x', sizeof(name));
    ls_stacks_name(&t, &key, name);
    snprintf(name, sizeof(name), "thread %u", key.tid);
    ls_stacks_name(&t, &key, name);
  }
  ls_stacks_turn(&t, 0);
  for (key.tid = 3; key.tid <= MANY; key.tid += 3)
    ls_stacks_name(&t, &key, "again\0ignored...");
  ls_stacks_turn(&t, 0);
  ck_assert_uint_eq(t.names.n, MANY / 3);
  for (key.tid = 1; key.tid <= MANY; key.tid++)
    ck_assert_str_eq(ls_stacks_thread(&t, &key), key.tid % 3 ? "" : "again");
  key.pid = 2;
  key.tid = 3;
  ck_assert_str_eq(ls_stacks_thread(&t, &key), "");
  ls_stacks_clear(&t);
}
END_TEST

Suite *suite_hash(void)
{
  const TTest *tests[] = {test_put,    test_same_hash,    test_pool,
                          test_stacks, test_thread_names, NULL};
  return suite_of("hash", tests);
}
