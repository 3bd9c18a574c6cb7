/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/indexes/verify_plan.h"

#include <check.h>

#include "base/macros.h"

enum { INDEX = 70, OTHER_INDEX = 71, NOTHING = 0 };

/* Digests of the entries at the two keys; 0: no entry. */
struct world {
    int wanted_at_a; /* an entry at the key "a" with this digest */
    int stored_at_a, stored_at_b;
    int named_at_a, named_at_b; /* by the manifest */
};

static const struct entity_key a = { { "a", 1 }, { "r", 1 } };
static const struct entity_key b = { { "b", 1 }, { "r", 1 } };

struct scene {
    struct index_entry wanted;
    struct verify_stored stored[2];
    struct manifest_item items[3];
    struct verify_case facts;
    struct difference differences[4];
    size_t count;
};

static void add_stored(struct scene *scene, struct entity_key key, int digest)
{
    if (digest != NOTHING)
        scene->stored[scene->facts.stored_count++] =
            (struct verify_stored){ .key = key, .version = 1, .digest = (uint64_t)digest };
}

static void add_named(struct scene *scene, int64_t index_id, struct entity_key key, int digest)
{
    if (digest != NOTHING)
        scene->items[scene->facts.manifest.count++] =
            (struct manifest_item){ .index_id = index_id, .key = key, .digest = (uint64_t)digest };
}

/* Another index has an item of its own in every manifest; this index ignores it. */
static void set_scene(struct scene *scene, const struct world *world)
{
    *scene = (struct scene){ .facts = { .index_id = INDEX, .is_complete = true, .has_manifest = true } };
    scene->facts.stored = scene->stored;
    scene->facts.manifest.items = scene->items;
    scene->wanted =
        (struct index_entry){ .index_id = INDEX, .key = a, .digest = (uint64_t)world->wanted_at_a };
    if (world->wanted_at_a != NOTHING)
        scene->facts.wanted = &scene->wanted;
    add_stored(scene, a, world->stored_at_a);
    add_stored(scene, b, world->stored_at_b);
    add_named(scene, OTHER_INDEX, b, 9);
    add_named(scene, INDEX, a, world->named_at_a);
    add_named(scene, INDEX, b, world->named_at_b);
}

static void judge(struct scene *scene)
{
    ck_assert_uint_le(verify_plan_max(&scene->facts), ARRAY_LEN(scene->differences));
    scene->count = verify_plan(&scene->facts, scene->differences);
    ck_assert_uint_le(scene->count, verify_plan_max(&scene->facts));
}

static const struct verdict {
    struct world world;
    enum difference_class first, second;
} verdicts[] = {
    /* wanted, stored at a, at b, named at a, at b */
    { { 1, 1, 0, 1, 0 }, DIFFERENCE_END, DIFFERENCE_END },
    { { 0, 0, 0, 0, 0 }, DIFFERENCE_END, DIFFERENCE_END },
    { { 1, 0, 0, 1, 0 }, DIFFERENCE_MISSING, DIFFERENCE_END },
    { { 1, 0, 0, 0, 0 }, DIFFERENCE_MISSING, DIFFERENCE_END },
    { { 1, 2, 0, 1, 0 }, DIFFERENCE_MISMATCHED, DIFFERENCE_END },
    { { 1, 2, 0, 2, 0 }, DIFFERENCE_MISMATCHED, DIFFERENCE_END },
    { { 1, 1, 2, 1, 0 }, DIFFERENCE_DANGLING, DIFFERENCE_END },
    { { 1, 0, 1, 1, 0 }, DIFFERENCE_MISSING, DIFFERENCE_DANGLING },
    { { 0, 1, 1, 0, 0 }, DIFFERENCE_DANGLING, DIFFERENCE_DANGLING },
    { { 1, 1, 0, 0, 0 }, DIFFERENCE_MANIFEST, DIFFERENCE_END },
    { { 1, 1, 0, 2, 0 }, DIFFERENCE_MANIFEST, DIFFERENCE_END },
    { { 1, 1, 0, 1, 1 }, DIFFERENCE_MANIFEST, DIFFERENCE_END },
    { { 0, 0, 0, 0, 1 }, DIFFERENCE_MANIFEST, DIFFERENCE_END },
    { { 0, 1, 0, 1, 0 }, DIFFERENCE_DANGLING, DIFFERENCE_END },
    { { 1, 1, 2, 1, 2 }, DIFFERENCE_DANGLING, DIFFERENCE_END },
    { { 1, 1, 2, 0, 2 }, DIFFERENCE_MANIFEST, DIFFERENCE_DANGLING },
};

START_TEST(what_differs_is_named_by_its_class)
{
    struct scene scene;

    set_scene(&scene, &verdicts[_i].world);
    judge(&scene);
    ck_assert_int_eq(
        (int)scene.count, (verdicts[_i].first != DIFFERENCE_END) + (verdicts[_i].second != DIFFERENCE_END));
    if (scene.count > 0)
        ck_assert_int_eq(scene.differences[0].class, verdicts[_i].first);
    if (scene.count > 1)
        ck_assert_int_eq(scene.differences[1].class, verdicts[_i].second);
}
END_TEST

START_TEST(a_difference_says_what_is_there_and_what_should_be)
{
    struct scene scene;

    set_scene(&scene, &(struct world){ 1, 2, 3, 1, 0 });
    judge(&scene);
    ck_assert_uint_eq(scene.count, 2);
    ck_assert_int_eq(entity_key_compare(&scene.differences[0].entry, &a), 0);
    ck_assert_uint_eq(scene.differences[0].wanted->digest, 1);
    ck_assert_uint_eq(scene.differences[0].found->digest, 2);
    ck_assert_int_eq(entity_key_compare(&scene.differences[1].entry, &b), 0);
    ck_assert_ptr_null(scene.differences[1].wanted);
    ck_assert_uint_eq(scene.differences[1].found->digest, 3);
}
END_TEST

START_TEST(a_manifest_that_names_what_is_not_there_says_which_entry)
{
    struct scene scene;

    set_scene(&scene, &(struct world){ 0, 0, 0, 0, 1 });
    judge(&scene);
    ck_assert_int_eq(entity_key_compare(&scene.differences[0].entry, &b), 0);
    ck_assert_ptr_null(scene.differences[0].found);
}
END_TEST

START_TEST(a_key_in_flight_is_not_judged)
{
    struct scene scene;

    set_scene(&scene, &(struct world){ 1, 0, 1, 2, 2 });
    scene.facts.in_flight = true;
    judge(&scene);
    ck_assert_uint_eq(scene.count, 0);
}
END_TEST

/* In the partition of their source entries are in no manifest. */
START_TEST(without_manifests_only_entries_are_compared)
{
    struct scene scene;

    set_scene(&scene, &(struct world){ 1, 1, 0, 0, 1 });
    scene.facts.has_manifest = false;
    judge(&scene);
    ck_assert_uint_eq(scene.count, 0);
    set_scene(&scene, &(struct world){ 1, 2, 1, 0, 1 });
    scene.facts.has_manifest = false;
    judge(&scene);
    ck_assert_uint_eq(scene.count, 2);
}
END_TEST

START_TEST(a_manifest_that_cannot_be_read_is_a_difference)
{
    struct scene scene;

    set_scene(&scene, &(struct world){ 1, 1, 0, 1, 0 });
    scene.facts.is_manifest_damaged = true;
    judge(&scene);
    ck_assert_uint_eq(scene.count, 1);
    ck_assert_int_eq(scene.differences[0].class, DIFFERENCE_MANIFEST);
}
END_TEST

/* A check that begins at an entry has read neither the wanted key nor the manifest. */
START_TEST(from_an_entry_only_what_dangles_is_seen)
{
    struct scene scene;

    set_scene(&scene, &(struct world){ 1, 0, 2, 2, 0 });
    scene.facts.is_complete = false;
    judge(&scene);
    ck_assert_uint_eq(scene.count, 1);
    ck_assert_int_eq(scene.differences[0].class, DIFFERENCE_DANGLING);
}
END_TEST

/* ---- all possible states, against a model that knows only the rule ---- */

static bool is_right(const struct world *world)
{
    return world->stored_at_a == world->wanted_at_a && world->stored_at_b == NOTHING &&
           world->named_at_a == world->wanted_at_a && world->named_at_b == NOTHING;
}

/*
 * What a repair does with a difference: the entry at its key becomes the wanted one, and the manifest lists what is
 * stored.
 */
static void mend(struct world *world, const struct difference *difference)
{
    bool is_a = entity_key_compare(&difference->entry, &a) == 0;
    int wanted = difference->wanted ? (int)difference->wanted->digest : NOTHING;

    if (difference->class != DIFFERENCE_MANIFEST)
        *(is_a ? &world->stored_at_a : &world->stored_at_b) = wanted;
    world->named_at_a = world->wanted_at_a;
    world->named_at_b = NOTHING;
}

static struct world world_number(int n)
{
    return (struct world){ n % 2, n / 2 % 3, n / 6 % 3, n / 18 % 3, n / 54 % 3 };
}

enum { WORLDS = 2 * 3 * 3 * 3 * 3 };

START_TEST(exactly_what_is_wrong_is_found_and_mending_it_makes_all_right)
{
    for (int n = 0; n < WORLDS; n++) {
        struct world world = world_number(n);
        struct scene scene;

        set_scene(&scene, &world);
        judge(&scene);
        ck_assert_msg((scene.count == 0) == is_right(&world), "world %d: %zu differences", n, scene.count);
        for (size_t i = 0; i < scene.count; i++)
            mend(&world, &scene.differences[i]);
        ck_assert_msg(is_right(&world), "world %d is not right when it has been mended", n);
    }
}
END_TEST

Suite *test_verify_plan_suite(void)
{
    Suite *suite = suite_create("verify_plan");
    TCase *tc = tcase_create("verify_plan");

    tcase_add_loop_test(tc, what_differs_is_named_by_its_class, 0, ARRAY_LEN(verdicts));
    tcase_add_test(tc, a_difference_says_what_is_there_and_what_should_be);
    tcase_add_test(tc, a_manifest_that_names_what_is_not_there_says_which_entry);
    tcase_add_test(tc, a_key_in_flight_is_not_judged);
    tcase_add_test(tc, without_manifests_only_entries_are_compared);
    tcase_add_test(tc, a_manifest_that_cannot_be_read_is_a_difference);
    tcase_add_test(tc, from_an_entry_only_what_dangles_is_seen);
    tcase_add_test(tc, exactly_what_is_wrong_is_found_and_mending_it_makes_all_right);
    suite_add_tcase(suite, tc);
    return suite;
}
