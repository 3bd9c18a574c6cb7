/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ups of indexes that keep versions: an entry stands for its entity as long as nothing of the table is open, and
 * sources are read otherwise. Each test runs for a look-up in a shared flight and for one by itself.
 */
#include <check.h>

#include "domain/indexes/index_codec.h"
#include "domain/operations/operation_times.h"
#include "store/entities/write_batch.h"
#include "store/indexes/index_calls.h"
#include "store/indexes/lookup_read.h"
#include "store/short_reads/short_batch.h"
#include "tests/support/builders.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

static struct world world;
static bool alone; /* each look-up runs by itself */

static void setup(void)
{
    world_open(&world);
    world_put(&world, "a", "Rome", "x");
    world_put(&world, "b", "Rome", "x");
    world_put(&world, "c", "Oslo", "x");
    call_succeeded(index_created(&world, "ByCity", "People", 0));
    run_chunks(world.worker);
    world_reconcile_all(&world);
    world_check(&world);
}

static void teardown(void)
{
    world_close(&world);
}

static struct operation *a_lookup(const char *index, const char *text)
{
    struct operation *lookup = an_operation(&world.arena, OPERATION_LOOKUP, index);
    struct value *values = ARENA_ARRAY(&world.arena, struct value, 1);

    values[0] = (struct value){ .type = PROPERTY_STRING, .bytes = str_of(text) };
    lookup->in.lookup = (struct operation_lookup){ .equals = values, .equal_count = 1, .limit = 10 };
    return lookup;
}

/* The rows of the entities found, one letter each. */
static const char *found_by(struct operation *lookup)
{
    struct buf out;

    if (alone)
        lookup_read_run(&world.writer, lookup);
    else
        short_batch_run(&world.writer, lookup, NULL);
    arena_cleanup(&world.writer.arena);
    ck_assert_reason(lookup, "OK");
    ck_assert_int_eq(operation_times_detour(lookup), DETOUR_NONE);
    buf_init(&out, &world.arena);
    for (size_t i = 0; i < lookup->out.lookup.count; i++)
        buf_append(&out, lookup->out.lookup.entities[i].key.row);
    buf_append_byte(&out, 0);
    return out.data;
}

static const char *found(const char *city)
{
    return found_by(a_lookup("ByCity", city));
}

static const char *found_at_sources(const char *city)
{
    struct operation *lookup = a_lookup("ByCity", city);

    lookup->in.lookup.read_sources = true;
    return found_by(lookup);
}

/* Take an entity away behind the index's back. */
static void lose(const char *row)
{
    test_sql(world.sql,
        "update entities set dead = true, properties = '' where table_id = %d and row_key = '%s'", TABLE_ID,
        row);
}

START_TEST(an_entry_stands_for_its_entity_unless_sources_are_asked_for)
{
    alone = _i;
    lose("a");
    ck_assert_str_eq(found("Rome"), "ab");
    ck_assert_str_eq(found_at_sources("Rome"), "b");
}
END_TEST

START_TEST(a_hit_is_the_entity_with_its_etag_and_its_time)
{
    struct operation *lookup = a_lookup("ByCity", "Oslo"), *checked = a_lookup("ByCity", "Oslo");
    const struct entity *a, *b;

    alone = _i;
    checked->in.lookup.read_sources = true;
    ck_assert_str_eq(found_by(lookup), "c");
    ck_assert_str_eq(found_by(checked), "c");
    a = &lookup->out.lookup.entities[0];
    b = &checked->out.lookup.entities[0];
    ck_assert(etag_equal(a->etag, b->etag));
    ck_assert_int_eq(a->timestamp, b->timestamp);
    ck_assert_int_eq(a->expires, b->expires);
    ck_assert(str_equal(a->key.partition, b->key.partition));
    ck_assert(str_equal(a->properties.bytes, b->properties.bytes));
}
END_TEST

/* Guard G59: a write that changes no property changes the ETag. */
START_TEST(an_entry_follows_every_write_of_its_source)
{
    struct operation *lookup = a_lookup("ByCity", "Oslo");
    int64_t version = world_put(&world, "c", "Oslo", "x");

    alone = _i;
    ck_assert_int_eq(world_intents(&world), 1);
    world_reconcile_all(&world);
    world_check(&world);
    lose("c");
    ck_assert_str_eq(found_by(lookup), "c");
    ck_assert_int_eq(lookup->out.lookup.entities[0].etag.version, version);
}
END_TEST

/* ---- upserts that read nothing ---- */

/* Guard G75: whatever was stored, an intent is left. */
START_TEST(an_upsert_of_an_entity_with_an_entry_leaves_an_intent)
{
    alone = _i;
    world_put(&world, "a", "Bern", "x");
    world_put(&world, "b", "Rome", "x");
    world_put(&world, "new", "Bern", "x");
    ck_assert_int_eq(world_intents(&world), 3);
    world_reconcile_all(&world);
    world_check(&world);
    ck_assert_str_eq(found("Bern"), "anew");
    ck_assert_str_eq(found("Rome"), "b");
}
END_TEST

/* Guard G75: what is stored decides about an entity without an entry. */
START_TEST(an_upsert_of_an_entity_without_an_entry_leaves_an_intent_if_there_was_one)
{
    alone = _i;
    world_put(&world, "none", NULL, "x");
    world_put(&world, "none", NULL, "y");
    ck_assert_int_eq(world_intents(&world), 0);
    world_put(&world, "c", NULL, "x");
    ck_assert_int_eq(world_intents(&world), 1);
    world_reconcile_all(&world);
    world_check(&world);
    ck_assert_str_eq(found("Oslo"), "");
}
END_TEST

static struct operation *an_upsert(const char *row, const char *city)
{
    struct operation *operation = a_write_operation(&world.arena, "People",
        a_write(WRITE_INSERT_OR_REPLACE, "p", row, some_texts(&world.arena, "City", city, NULL)));

    return operation;
}

/* Upserts of one key are one row, so they have one intent, which the tokens of all of them name. */
START_TEST(upserts_of_one_key_in_a_batch_leave_one_intent)
{
    struct operation *first = an_upsert("twice", "Bern"), *second = an_upsert("twice", "Oslo");
    struct operation *other = an_upsert("once", "Bern");
    const struct intent_block *block;

    alone = _i;
    first->next = second;
    second->next = other;
    write_batch_for_worker(world.worker, &world.writer, first);
    arena_cleanup(&world.writer.arena);
    ck_assert_int_eq(world_intents(&world), 2);
    ck_assert_int_eq(second->out.write.results[0].etag.version, first->out.write.results[0].etag.version + 1);
    for (struct operation *operation = first; operation; operation = operation->next) {
        char id[INTENT_ID_TEXT_BYTES];

        ck_assert_reason(operation, "OK");
        ck_assert_ptr_nonnull(operation->out.write.left_open);
        block = &operation->out.write.left_open->blocks[0];
        intent_id_format(intent_block_id(block, block->first), id);
        ck_assert_int_eq(
            test_number(world.sql,
                "select count(*) from intents where id = '%s' and bucket = %d and version = %lld", id,
                block->buckets[0],
                (long long)(operation == first ? second : operation)->out.write.results[0].etag.version),
            1);
    }
    world_reconcile_all(&world);
    world_check(&world);
    ck_assert_str_eq(found("Bern"), "once");
    ck_assert_str_eq(found("Oslo"), "ctwice");
}
END_TEST

/* A request that is repeated is answered with the token of its first execution. */
START_TEST(a_repeated_request_has_the_token_of_the_first)
{
    struct operation *first = an_upsert("a", "Bern"), *again = an_upsert("a", "Bern");

    alone = _i;
    first->in.write.request_id = again->in.write.request_id = STR_LITERAL("request");
    write_batch_for_worker(world.worker, &world.writer, first);
    arena_cleanup(&world.writer.arena);
    ck_assert_reason(first, "OK");
    ck_assert_int_eq(world_intents(&world), 1);
    write_batch_for_worker(world.worker, &world.writer, again);
    arena_cleanup(&world.writer.arena);
    ck_assert_reason(again, "OK");
    ck_assert_int_eq(world_intents(&world), 1);
    ck_assert_ptr_nonnull(again->out.write.left_open);
    ck_assert_uint_eq(
        again->out.write.left_open->blocks[0].first, first->out.write.left_open->blocks[0].first);
    ck_assert(etag_equal(again->out.write.results[0].etag, first->out.write.results[0].etag));
}
END_TEST

/* ---- what is open ---- */

/* Guard G58: the entry of an entity with open work is not returned as the entity. */
START_TEST(what_is_open_is_read_at_its_source)
{
    struct operation *lookup = a_lookup("ByCity", "Rome");
    int64_t version;

    alone = _i;
    world_put(&world, "a", "Bern", "x");
    version = world_put(&world, "b", "Rome", "x");
    ck_assert_str_eq(found_by(lookup), "b");
    ck_assert_int_eq(lookup->out.lookup.entities[0].etag.version, version);
    world_delete(&world, "b");
    ck_assert_str_eq(found("Rome"), "");
    world_reconcile_all(&world);
    ck_assert_str_eq(found("Rome"), "");
    ck_assert_str_eq(found("Bern"), "a");
}
END_TEST

/* Guard G58: nor that of an entity whose work was given up. */
START_TEST(what_was_given_up_is_read_at_its_source)
{
    alone = _i;
    world_put(&world, "a", "Bern", "x");
    test_sql(world.sql,
        "with i as (delete from intents returning *)"
        " insert into dead_letters (bucket, kind, table_id, partition_key, row_key, index_id, dead, failures,"
        " cause, history)"
        " select bucket, 1, table_id, partition_key, row_key, 0, true, 1, '', '' from i");
    ck_assert_str_eq(found("Rome"), "b");
}
END_TEST

/* What is open is the work of other indexes. */
START_TEST(entries_of_a_strong_index_stand_whatever_is_open)
{
    struct key_part *note = ARENA_NEW(&world.arena, struct key_part);
    struct operation *created = call_make(&world.arena, OPERATION_INDEX_CREATE, "ByNote");

    alone = _i;
    *note = (struct key_part){ .text = STR_LITERAL("Note") };
    created->in.index.definition = (struct index){ .name = STR_LITERAL("ByNote"),
        .source_name = STR_LITERAL("People"),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .consistency = INDEX_STRONG,
        .partition_key = { note, 1 },
        .projection = PROJECT_ALL };
    call_succeeded(call_run(&world.writer, index_calls_create, created));
    run_chunks(world.worker);
    world_put(&world, "a", "Bern", "y");
    ck_assert_int_eq(world_intents(&world), 1);
    lose("b");
    ck_assert_str_eq(found_by(a_lookup("ByNote", "x")), "bc");
    ck_assert_str_eq(found_by(a_lookup("ByNote", "y")), "a");
}
END_TEST

static bool keeps_versions(const char *name)
{
    struct index_view view = index_seen(&world, name);
    struct index index = { 0 };

    ck_assert(index_codec_decode(view.definition, &world.arena, &index));
    return index.keeps_versions;
}

/* They could not read the declaration, and so no catalogue. */
START_TEST(a_new_index_keeps_no_versions_while_older_programs_may_come_back)
{
    alone = _i;
    ck_assert(keeps_versions("ByCity"));
    world_change(&world, "update schema_migrations set oldest_program = 38 where oldest_program > 38");
    call_succeeded(index_created(&world, "ByTown", "People", 0));
    run_chunks(world.worker);
    ck_assert(!keeps_versions("ByTown"));
    lose("a");
    ck_assert_str_eq(found_by(a_lookup("ByTown", "Rome")), "b");
}
END_TEST

/* An index from before entries kept versions: its declaration does not say so. */
START_TEST(an_earlier_index_is_checked)
{
    struct index_view view = index_seen(&world, "ByCity");
    struct index index = { 0 };

    alone = _i;
    ck_assert(index_codec_decode(view.definition, &world.arena, &index) && index.keeps_versions);
    index.keeps_versions = false;
    world_change(&world, "update indexes set definition = %s",
        as_bytea(&world.arena, index_codec_encode(&index, &world.arena)));
    lose("a");
    ck_assert_str_eq(found("Rome"), "b");
}
END_TEST

Suite *test_lookup_versions_suite(void)
{
    Suite *suite = suite_create("lookup_versions");
    TCase *tc = tcase_create("lookup_versions");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, an_entry_stands_for_its_entity_unless_sources_are_asked_for, 0, 2);
    tcase_add_loop_test(tc, a_hit_is_the_entity_with_its_etag_and_its_time, 0, 2);
    tcase_add_loop_test(tc, an_entry_follows_every_write_of_its_source, 0, 2);
    tcase_add_loop_test(tc, an_upsert_of_an_entity_with_an_entry_leaves_an_intent, 0, 2);
    tcase_add_loop_test(tc, an_upsert_of_an_entity_without_an_entry_leaves_an_intent_if_there_was_one, 0, 2);
    tcase_add_loop_test(tc, upserts_of_one_key_in_a_batch_leave_one_intent, 0, 2);
    tcase_add_loop_test(tc, a_repeated_request_has_the_token_of_the_first, 0, 2);
    tcase_add_loop_test(tc, what_is_open_is_read_at_its_source, 0, 2);
    tcase_add_loop_test(tc, what_was_given_up_is_read_at_its_source, 0, 2);
    tcase_add_loop_test(tc, entries_of_a_strong_index_stand_whatever_is_open, 0, 2);
    tcase_add_loop_test(tc, a_new_index_keeps_no_versions_while_older_programs_may_come_back, 0, 2);
    tcase_add_loop_test(tc, an_earlier_index_is_checked, 0, 2);
    suite_add_tcase(suite, tc);
    return suite;
}
