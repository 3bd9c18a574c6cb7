/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/shared_map.c: against an array, and copies against what they were copied from.
 */
#include "base/shared_map.h"

#include <check.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/macros.h"

enum { KEYS = 64, STEPS = 20000, COPIES = 5 };

struct item {
    int key;
    int references;
};

/* Items 0 to KEYS - 1, and as many that take their places. */
static struct item items[2][KEYS];

static int by_key(const void *key, const void *item)
{
    return *(const int *)key - ((const struct item *)item)->key;
}

static void retain(void *item)
{
    ((struct item *)item)->references++;
}

static void release(void *item)
{
    ck_assert_int_gt(((struct item *)item)->references--, 0);
}

static const struct shared_map_type type = { by_key, retain, release };

/* A map, and what it is to hold. */
struct pair {
    struct shared_map map;
    struct item *expected[KEYS];
};

static void put(struct pair *pair, struct item *item)
{
    item->references++;
    shared_map_put(&pair->map, &type, &item->key, item);
    pair->expected[item->key] = item;
}

static void take_out(struct pair *pair, int key)
{
    shared_map_remove(&pair->map, &type, &key);
    pair->expected[key] = NULL;
}

static void check_pair(const struct pair *pair)
{
    const struct item *next = NULL;

    for (int key = KEYS - 1; key >= -1; key--) {
        ck_assert_ptr_eq(shared_map_after(&pair->map, &type, &key), next);
        if (key < 0)
            break;
        ck_assert_ptr_eq(shared_map_find(&pair->map, &type, &key), pair->expected[key]);
        if (pair->expected[key])
            next = pair->expected[key];
    }
}

static void setup(void)
{
    for (int i = 0; i < 2 * KEYS; i++)
        items[i / KEYS][i % KEYS] = (struct item){ .key = i % KEYS };
}

START_TEST(maps_that_share_nodes_hold_their_own_items)
{
    struct pair pairs[COPIES] = { 0 };
    uint64_t random = HASH_EMPTY;

    for (int step = 0; step < STEPS; step++) {
        struct pair *pair, *from;
        int key;

        random = hash_number(random, (uint64_t)step);
        pair = &pairs[(random >> 8) % COPIES];
        from = &pairs[(random >> 16) % COPIES];
        key = (int)((random >> 24) % KEYS);
        if ((random >> 40) % 50 == 0 && pair != from) {
            shared_map_clear(&pair->map, &type);
            *pair = *from;
            pair->map = shared_map_copy(&from->map);
        } else if ((random >> 40) % 3 == 0) {
            take_out(pair, key);
        } else {
            put(pair, &items[(random >> 50) % 2][key]);
        }
        if (step % 100 == 0)
            for (size_t i = 0; i < COPIES; i++)
                check_pair(&pairs[i]);
    }
    for (size_t i = 0; i < COPIES; i++)
        shared_map_clear(&pairs[i].map, &type);
    for (int i = 0; i < 2 * KEYS; i++)
        ck_assert_int_eq(items[i / KEYS][i % KEYS].references, 0);
}
END_TEST

START_TEST(a_change_copies_the_way_to_it_only)
{
    struct pair pair = { 0 }, copy;
    int held = 0;

    for (int key = 0; key < KEYS; key++)
        put(&pair, &items[0][key]);
    copy = pair;
    copy.map = shared_map_copy(&pair.map);
    put(&copy, &items[1][KEYS / 2]);
    for (int key = 0; key < KEYS; key++)
        held += items[0][key].references;
    /* A copy of every node would hold 2 * KEYS - 1. A tree of 64 items is rarely deeper than 15. */
    ck_assert_int_le(held, KEYS + 40);
    check_pair(&pair);
    check_pair(&copy);
    shared_map_clear(&pair.map, &type);
    shared_map_clear(&copy.map, &type);
}
END_TEST

Suite *test_shared_map_suite(void)
{
    Suite *suite = suite_create("shared_map");
    TCase *tc = tcase_create("shared_map");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, maps_that_share_nodes_hold_their_own_items);
    tcase_add_test(tc, a_change_copies_the_way_to_it_only);
    suite_add_tcase(suite, tc);
    return suite;
}
