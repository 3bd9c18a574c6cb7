/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_freshness.c - reads that must be fresh: they wait for the intents that a token names, or for a bound on
 * staleness; the latest also reads the sources with open intents.
 */
#include <check.h>
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "domain/limits.h"
#include "domain/operations/operation_times.h"
#include "store/dead_letters/dead_letter_work.h"
#include "store/indexes/lookup_read.h"
#include "store/indexes/reconcile.h"
#include "store/intents/backlog_work.h"
#include "store/intents/scan_reach.h"
#include "store/session/session.h"
#include "store/session/worker.h"
#include "store/transactions/transaction_work.h"
#include "tests/support/builders.h"
#include "tests/support/tcp_proxy.h"

enum { INDEX_ID = 900, SOON_US = 1000000, MANY = 3000 };

static struct scene scene;
static struct worker *worker;
static struct key_part by_city = { .text = { "City", 4 } };
static struct index city_index;

static void setup(void)
{
    struct error err;

    scene_open(&scene);
    city_index = (struct index){ .index_id = INDEX_ID,
        .name = STR_LITERAL("ByCity"),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .state = INDEX_READY,
        .partition_key = { &by_city, 1 },
        .projection = PROJECT_KEYS_ONLY };
    scene_index(&scene, &city_index);
    ck_assert_int_eq(worker_open(scene.conninfo, "worker", &worker, &err), STATUS_OK);
}

/* Each operation has its own, as with callers: another thread runs it while this one goes on. */
struct own_arena {
    struct arena arena;
    struct own_arena *next;
};
static struct own_arena *own_arenas;

static struct arena *own_arena(void)
{
    struct own_arena *own = ARENA_NEW(&scene.arena, struct own_arena);

    arena_init(&own->arena);
    own->next = own_arenas;
    own_arenas = own;
    return &own->arena;
}

static void teardown(void)
{
    worker_close(worker);
    for (; own_arenas; own_arenas = own_arenas->next)
        arena_cleanup(&own_arenas->arena);
    scene_close(&scene);
}

/* ---- words ---- */

static struct write in_city(const char *row, const char *city)
{
    return a_write(
        WRITE_INSERT_OR_REPLACE, "p", row, some_texts(&scene.arena, "City", city, "Name", row, NULL));
}

static const struct consistency *put(const char *row, const char *city)
{
    struct operation *write = a_write_operation(&scene.arena, "Things", in_city(row, city));

    run(scene.store, write);
    ck_assert_reason(write, "OK");
    return write->out.write.left_open;
}

static struct intent about(const char *row)
{
    return (struct intent){ .kind = INTENT_RECONCILE,
        .table_id = city_index.source_table_id,
        .key = a_key("p", row),
        .bucket = entity_key_bucket(city_index.source_table_id, STR_LITERAL("p")) };
}

static void reconcile(const char *row)
{
    struct reconcile_counts counts = { 0 };
    struct intent intent = about(row);
    struct error err = { 0 };

    ck_assert_msg(reconcile_keys(worker, &intent, 1, false, &counts, &err) == STATUS_OK, "%s", err.message);
}

static void reconcile_all(void)
{
    PGresult *rows = PQexec(scene.sql, "select distinct row_key from intents");

    for (int i = 0; i < PQntuples(rows); i++)
        reconcile(PQgetvalue(rows, i, 0));
    PQclear(rows);
}

static struct operation *a_lookup(const char *city)
{
    struct operation *lookup = an_operation(own_arena(), OPERATION_LOOKUP, "ByCity");
    struct value *value = ARENA_NEW(lookup->arena, struct value);

    *value = (struct value){ .type = PROPERTY_STRING, .bytes = str_of(city) };
    lookup->in.lookup = (struct operation_lookup){ .equals = value, .equal_count = 1, .limit = 1000 };
    return lookup;
}

static struct operation *a_lookup_after(const char *city, const struct consistency *token)
{
    struct operation *lookup = a_lookup(city);

    lookup->in.lookup.freshness.at_least = ARENA_NEW(lookup->arena, struct consistency);
    *lookup->in.lookup.freshness.at_least = *token;
    lookup->in.lookup.freshness.at_least_count = 1;
    return lookup;
}

static struct operation *the_latest(const char *city)
{
    struct operation *lookup = a_lookup(city);

    lookup->in.lookup.freshness.latest = true;
    return lookup;
}

/* With a short deadline. */
static struct operation *in_haste(struct operation *lookup)
{
    lookup->deadline_us = clock_monotonic_us() + SOON_US;
    run(scene.store, lookup);
    return lookup;
}

static void refused(const struct operation *lookup, const char *reason, const char *says)
{
    ck_assert_reason(lookup, reason);
    ck_assert_msg(strstr(lookup->error->message, says) != NULL, "%s", lookup->error->message);
}

/* The rows found, in order. */
static const char *rows_in(const struct operation *lookup)
{
    struct buf out;

    ck_assert_reason(lookup, "OK");
    buf_init(&out, lookup->arena);
    for (size_t i = 0; i < lookup->out.lookup.count; i++)
        buf_append(&out, lookup->out.lookup.entities[i].key.row);
    buf_append_byte(&out, 0);
    return out.data;
}

static const char *found(struct operation *lookup)
{
    run(scene.store, lookup);
    return rows_in(lookup);
}

/* ---- tokens ---- */

START_TEST(a_write_names_the_intents_it_leaves_open)
{
    const struct consistency *first = put("a", "Bonn");
    char id[INTENT_ID_TEXT_BYTES];

    ck_assert_ptr_nonnull(first);
    ck_assert_int_eq(first->table_id, city_index.source_table_id);
    ck_assert_uint_eq(first->block_count, 1);
    intent_id_format(intent_block_id(&first->blocks[0], first->blocks[0].first), id);
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from intents where id = '%s' and bucket = %d",
                         id, first->blocks[0].buckets[0]),
        1);
    ck_assert_int_eq(first->blocks[0].first, first->blocks[0].last);

    struct write other = in_city("a", "Bonn");
    other.properties = some_texts(&scene.arena, "City", "Bonn", "Name", "other", NULL);
    struct operation *same_entry = a_write_operation(&scene.arena, "Things", other);
    run(scene.store, same_entry);
    ck_assert_reason(same_entry, "OK");
    ck_assert_ptr_null(same_entry->out.write.left_open);

    scene_table(&scene, "Plain");
    struct operation *plain = a_write_operation(&scene.arena, "Plain", in_city("a", "Bonn"));
    run(scene.store, plain);
    ck_assert_reason(plain, "OK");
    ck_assert_ptr_null(plain->out.write.left_open);
}
END_TEST

START_TEST(a_group_names_all_of_them_and_a_repeat_the_same)
{
    struct write writes[] = { in_city("c", "Bonn"), in_city("a", "Rome"), in_city("b", "Oslo") };
    struct operation *group[2];

    for (int i = 0; i < 2; i++) {
        group[i] = a_group(&scene.arena, "Things", writes, 3);
        group[i]->in.write.request_id = STR_LITERAL("once");
        run(scene.store, group[i]);
        ck_assert_reason(group[i], "OK");
    }

    const struct consistency *open = group[0]->out.write.left_open;
    ck_assert_uint_eq(open->blocks[0].last - open->blocks[0].first, 2);
    ck_assert_uint_eq(open->blocks[0].bucket_count, 1);
    ck_assert(group[1]->out.write.replayed);
    ck_assert(str_equal(consistency_encode(open, &scene.arena),
        consistency_encode(group[1]->out.write.left_open, &scene.arena)));
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from intents"), 3);
    refused(in_haste(a_lookup_after("Bonn", open)), "NOT_FRESH_ENOUGH", "not reached the index");
    reconcile("a");
    reconcile("b");
    refused(in_haste(a_lookup_after("Bonn", open)), "NOT_FRESH_ENOUGH", "not reached the index");
    reconcile("c");
    ck_assert_str_eq(found(a_lookup_after("Bonn", open)), "c");
}
END_TEST

START_TEST(a_read_waits_for_the_write_it_names)
{
    const struct consistency *token = put("a", "Bonn");
    struct operation *waiting = a_lookup_after("Bonn", token), *at_once = a_lookup("Bonn");

    submit(scene.store, waiting);
    run(scene.store, at_once);
    ck_assert_str_eq(rows_in(at_once), "");
    ck_assert(!is_answered(waiting));
    reconcile("a");
    await(waiting);

    ck_assert_str_eq(rows_in(waiting), "a");
    ck_assert_str_eq(found(a_lookup_after("Bonn", token)), "a");
}
END_TEST

/* Guard against reading ids as a sequence: the intent is older than every stored watermark, and is not done. */
START_TEST(a_token_is_no_position_in_a_sequence)
{
    int16_t bucket = entity_key_bucket(city_index.source_table_id, STR_LITERAL("p"));
    struct intent_block block = {
        .us = 1000, .origin = 1, .first = 7, .last = 7, .buckets = &bucket, .bucket_count = 1
    };
    const struct consistency token = { .table_id = city_index.source_table_id,
        .account = STR_EMPTY,
        .id = STR_EMPTY,
        .blocks = &block,
        .block_count = 1 };
    char id[INTENT_ID_TEXT_BYTES];

    put("b", "Bonn");
    reconcile_all();
    test_sql(scene.sql, "update watermarks set as_of = 1000000000000000000");
    intent_id_format(intent_block_id(&block, 7), id);
    test_sql(scene.sql, "insert into intents values (%d, '%s', 1, %lld, 'p', 'late', 1)", bucket, id,
        (long long)city_index.source_table_id);

    refused(in_haste(a_lookup_after("Bonn", &token)), "NOT_FRESH_ENOUGH", "not reached the index");
    reconcile("late");
    ck_assert_str_eq(found(a_lookup_after("Bonn", &token)), "b");
}
END_TEST

START_TEST(a_write_that_was_given_up_is_not_waited_for)
{
    const struct consistency *token = put("a", "Bonn");
    struct intent intent = about("a");
    struct error cause, err = { 0 };
    int32_t failures;

    error_set(&cause, STATUS_INTERNAL, "the disk is full");
    ck_assert_int_eq(dead_letter_work_count_failure(worker, &intent, &cause, &failures, &err), STATUS_OK);
    refused(in_haste(a_lookup_after("Bonn", token)), "NOT_FRESH_ENOUGH", "not reached the index");
    ck_assert_int_eq(dead_letter_work_bury(worker, &intent, &err), STATUS_OK);

    struct operation *behind = a_lookup_after("Bonn", token);
    run(scene.store, behind);
    refused(behind, "NOT_FRESH_ENOUGH", "the disk is full");

    /* Other keys in the same partition do not wait. */
    token = put("b", "Bonn");
    reconcile("b");
    ck_assert_str_eq(found(a_lookup_after("Bonn", token)), "b");
}
END_TEST

START_TEST(what_is_redriven_is_waited_for_again)
{
    const struct consistency *token = put("a", "Bonn");
    struct intent intent = about("a");
    struct operation *redrive = an_operation(&scene.arena, OPERATION_DEAD_LETTERS_REDRIVE, "");
    struct error cause, err = { 0 };
    int32_t failures;

    error_set(&cause, STATUS_INTERNAL, "the disk is full");
    ck_assert_int_eq(dead_letter_work_count_failure(worker, &intent, &cause, &failures, &err), STATUS_OK);
    ck_assert_int_eq(dead_letter_work_bury(worker, &intent, &err), STATUS_OK);
    redrive->in.dead_letters =
        (struct operation_dead_letters){ .filter = { .state = DEAD_LETTER_DEAD, .queue = -1, .queues = 4 },
            .limit = 10 };
    run(scene.store, redrive);
    ck_assert_reason(redrive, "OK");
    ck_assert_uint_eq(redrive->out.dead_letters.count, 1);

    struct operation *waiting = a_lookup_after("Bonn", token);
    submit(scene.store, waiting);
    refused(in_haste(a_lookup_after("Bonn", token)), "NOT_FRESH_ENOUGH", "not reached the index");
    reconcile("a");
    await(waiting);
    ck_assert_str_eq(rows_in(waiting), "a");
}
END_TEST

START_TEST(tokens_of_another_time_or_table_are_refused)
{
    struct consistency token = *put("a", "Bonn");

    reconcile_all();
    token.table_id++;
    refused(in_haste(a_lookup_after("Bonn", &token)), "TOKEN_EXPIRED", "another table");
    token.table_id--;
    ck_assert_str_eq(found(a_lookup_after("Bonn", &token)), "a");
    scene_change(&scene, "update catalogue set epoch = epoch + 1");
    refused(in_haste(a_lookup_after("Bonn", &token)), "TOKEN_EXPIRED", "fail-over");
}
END_TEST

START_TEST(an_index_that_is_not_ready_says_so)
{
    const struct consistency *token = put("a", "Bonn");

    reconcile_all();
    scene_change(&scene, "update indexes set state = 1");
    refused(in_haste(a_lookup_after("Bonn", token)), "INDEX_NOT_READY", "built");
    refused(in_haste(the_latest("Bonn")), "INDEX_NOT_READY", "built");
}
END_TEST

/* ---- transactions ---- */

START_TEST(a_transaction_is_waited_for_with_all_it_does)
{
    struct step steps[] = { { .kind = STEP_INSERT_OR_REPLACE,
        .table = STR_LITERAL("Things"),
        .key = a_key("p", "a"),
        .properties = some_texts(&scene.arena, "City", "Bonn", NULL) } };
    struct operation *submission = an_operation(&scene.arena, OPERATION_TRANSACTION_SUBMIT, "");
    struct operation *get = an_operation(&scene.arena, OPERATION_TRANSACTION_GET, "");
    struct intent intent = { .kind = INTENT_TRANSACTION, .key = a_key("acme", "t-1") };
    struct consistency token;
    struct error err = { 0 };
    bool finished = false;

    submission->in.transaction.transaction = (struct transaction){
        .id = STR_LITERAL("t-1"), .account = STR_LITERAL("acme"), .steps = steps, .step_count = 1
    };
    get->in.transaction = submission->in.transaction;
    run(scene.store, submission);
    ck_assert_reason(submission, "OK");
    ck_assert(consistency_of_transaction(&submission->out.transaction.transactions[0], &scene.arena, &token));

    struct operation *waiting = a_lookup_after("Bonn", &token);
    submit(scene.store, waiting);
    refused(in_haste(a_lookup_after("Bonn", &token)), "NOT_FRESH_ENOUGH", "has not ended");
    ck_assert_int_eq(transaction_work_step(worker, &intent, NULL, &finished, &err), STATUS_OK);
    ck_assert(finished);
    refused(in_haste(a_lookup_after("Bonn", &token)), "NOT_FRESH_ENOUGH", "not reached the index");
    run(scene.store, get);
    ck_assert_reason(get, "OK");
    ck_assert(consistency_of_transaction(&get->out.transaction.transactions[0], &scene.arena, &token));
    ck_assert_uint_eq(token.id.len, 0);
    refused(in_haste(a_lookup_after("Bonn", &token)), "NOT_FRESH_ENOUGH", "not reached the index");
    ck_assert(!is_answered(waiting));
    reconcile("a");
    await(waiting);
    ck_assert_str_eq(rows_in(waiting), "a");
    ck_assert_str_eq(found(a_lookup_after("Bonn", &token)), "a");
}
END_TEST

START_TEST(an_unknown_transaction_is_not_waited_for)
{
    const struct consistency token = { .account = STR_LITERAL("acme"), .id = STR_LITERAL("nobody's") };
    struct operation *lookup = a_lookup_after("Bonn", &token);

    run(scene.store, lookup);
    ck_assert_reason(lookup, "TRANSACTION_NOT_FOUND");
}
END_TEST

/* ---- staleness ---- */

static struct operation *a_stale_lookup(int64_t max_staleness_us)
{
    struct operation *lookup = a_lookup("Bonn");

    lookup->in.lookup.freshness.has_max_staleness = true;
    lookup->in.lookup.freshness.max_staleness_us = max_staleness_us;
    return lookup;
}

static void tell_of_all_ranges(void)
{
    bool held[LEASE_RANGES];
    struct backlog backlog = { .queues = 1 };
    struct error err = { 0 };

    memset(held, true, sizeof(held));
    ck_assert_int_eq(backlog_work_update(worker, held, true, &backlog, &err), STATUS_OK);
}

START_TEST(staleness_is_bounded)
{
    struct operation *waiting = a_stale_lookup(60000000);

    put("a", "Bonn");
    test_sql(scene.sql, "update intents set id = '00000000000003e80000000000000000'");
    refused(in_haste(a_stale_lookup(60000000)), "NOT_FRESH_ENOUGH", "1 intents are open");
    tell_of_all_ranges();
    refused(in_haste(a_stale_lookup(60000000)), "NOT_FRESH_ENOUGH", "1 intents are open");
    submit(scene.store, waiting);
    reconcile_all();
    await(waiting);
    ck_assert_str_eq(rows_in(waiting), "a");
    tell_of_all_ranges();
    ck_assert_str_eq(found(a_stale_lookup(60000000)), "a");
}
END_TEST

/* Another account's backlog. */
START_TEST(only_open_intents_of_the_same_table_make_an_index_stale)
{
    struct operation *lookup = a_stale_lookup(1000000);

    put("a", "Bonn");
    reconcile_all();
    test_sql(scene.sql, "insert into intents (bucket, id, kind, table_id, partition_key, row_key, version)"
                        " values (0, '00000000000003e80000000000000000', 1, 4711, 'p', 'r', 1)");
    tell_of_all_ranges();

    run(scene.store, lookup);
    ck_assert_reason(lookup, "OK");
    ck_assert_str_eq(rows_in(lookup), "a");
    ck_assert_int_le(lookup->out.lookup.lag.age_us, 1000000);
    ck_assert_int_gt(lookup->out.lookup.lag.as_of, 0);
    ck_assert_int_eq(lookup->out.lookup.lag.open_intents, 0);
}
END_TEST

/* While other tables are behind, too. */
START_TEST(an_index_that_is_not_ready_is_not_waited_for)
{
    put("a", "Bonn");
    test_sql(scene.sql, "update intents set id = '00000000000003e80000000000000000'");
    tell_of_all_ranges();
    scene_change(&scene, "update indexes set state = 1");

    refused(in_haste(a_stale_lookup(1000000)), "INDEX_NOT_READY", "built");
}
END_TEST

START_TEST(an_index_that_is_far_behind_is_not_fresh)
{
    put("a", "Bonn");
    test_sql(scene.sql,
        "insert into intents (bucket, id, kind, table_id, partition_key, row_key, version)"
        " select bucket, lpad(to_hex(n), 32, '0')::uuid, kind, table_id, partition_key, row_key, version"
        " from intents, generate_series(1, 1000) n");

    refused(in_haste(a_stale_lookup(60000000)), "NOT_FRESH_ENOUGH", "more than 1000 intents are open");
}
END_TEST

/* The database's clock was set back, and all workers stand still: watermarks from before say nothing. */
/* Also where the statistics say that there are no bucket ranges, and another plan reads them. */
START_TEST(a_time_that_lies_ahead_says_nothing) /* guard G30 */
{
    if (_i == 1)
        test_sql(scene.sql,
            "create table kept as select * from watermarks; delete from watermarks; analyze watermarks;"
            "insert into watermarks select * from kept");
    put("a", "Bonn");
    test_sql(scene.sql, "update intents set id = overlay(id::text placing '7' from 1)::uuid");
    tell_of_all_ranges();
    test_sql(scene.sql, "update watermarks set as_of = as_of + 36000000000 where bucket_range = 3");

    refused(in_haste(a_stale_lookup(1000000)), "NOT_FRESH_ENOUGH", "clock was set back");

    /* Nor do they once the clock has reached them: they were removed. */
    test_await(scene.sql, "select count(*) from watermarks where bucket_range = 3 and as_of = 0");
    reconcile_all();
    ck_assert_str_eq(found(a_stale_lookup(1000000)), "a");
}
END_TEST

/* ---- the latest ---- */

START_TEST(the_latest_are_read_around_what_is_open)
{
    put("a", "Bonn");
    put("b", "Bonn");
    put("c", "Rome");
    put("d", "Bonn");
    reconcile_all();
    put("b", "Rome");
    put("c", "Bonn");
    put("e", "Bonn");
    scene_write(&scene, a_write(WRITE_DELETE_IF_EXISTS, "p", "d", (struct property_list){ STR_EMPTY }));

    struct operation *latest = the_latest("Bonn");
    latest->in.lookup.trust_index = _i & 1;
    latest->in.lookup.descending = _i & 2;
    ck_assert_str_eq(found(latest), _i & 2 ? "eca" : "ace");
    ck_assert_str_eq(found(the_latest("Rome")), "b");
    ck_assert_str_eq(found(the_latest("Oslo")), "");
    reconcile_all();
    ck_assert_str_eq(found(the_latest("Bonn")), "ace");
}
END_TEST

/* The keys of dead letters stay behind, and the latest answer is right nevertheless. */
START_TEST(the_latest_are_right_where_keys_were_given_up)
{
    struct intent intent = about("a");
    struct error cause, err = { 0 };
    int32_t failures;

    put("a", "Bonn");
    error_set(&cause, STATUS_INTERNAL, "broken");
    ck_assert_int_eq(dead_letter_work_count_failure(worker, &intent, &cause, &failures, &err), STATUS_OK);
    ck_assert_int_eq(dead_letter_work_bury(worker, &intent, &err), STATUS_OK);
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from intents"), 0);

    ck_assert_str_eq(found(a_lookup("Bonn")), "");
    ck_assert_str_eq(found(the_latest("Bonn")), "a");
}
END_TEST

/* All pages of random data, by pages of every size, in both directions. */
START_TEST(pages_of_the_latest_are_those_of_an_index_that_is_fresh)
{
    static const char *const rows[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };
    const char *cities[ARRAY_LEN(rows)];
    struct buf want;

    srandom((unsigned)_i);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            if (round == 1 && random() % 2)
                continue;
            cities[i] = random() % 3 ? "Bonn" : "Rome";
            put(rows[i], cities[i]);
        }
        if (round == 0)
            reconcile_all();
    }
    buf_init(&want, &scene.arena);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t at = _i % 2 ? ARRAY_LEN(rows) - 1 - i : i;

        if (strcmp(cities[at], "Bonn") == 0)
            buf_append(&want, str_of(rows[at]));
    }
    buf_append_byte(&want, 0);
    for (int32_t limit = 1; limit <= 4; limit++) {
        struct operation *page = the_latest("Bonn");
        struct buf got;

        buf_init(&got, &scene.arena);
        do {
            struct operation *next = the_latest("Bonn");

            next->in.lookup.limit = limit;
            next->in.lookup.descending = _i % 2;
            next->in.lookup.trust_index = _i % 3 == 0;
            next->in.lookup.has_after = page->out.lookup.more;
            next->in.lookup.after = page->out.lookup.position;
            buf_append(&got, str_of(found(next)));
            ck_assert_uint_le(next->out.lookup.count, (size_t)limit);
            page = next;
        } while (page->out.lookup.more);
        buf_append_byte(&got, 0);
        ck_assert_str_eq(got.data, want.data);
    }
}
END_TEST

/* An index whose entries have all properties of their entities. */
static void make_index_of_all(void)
{
    static struct index all;

    all = city_index;
    all.index_id = INDEX_ID + 1;
    all.name = STR_LITERAL("AllByCity");
    all.projection = PROJECT_ALL;
    scene_index(&scene, &all);
}

enum { LARGE = 50, NOTE_BYTES = 60000 };

/* LARGE entities of 360 kB, none of which is in the index: more than a page may examine. */
static void put_large(struct buf *rows)
{
    char *note = arena_calloc(&scene.arena, 1, NOTE_BYTES + 1);

    memset(note, 'x', NOTE_BYTES);
    for (int i = 0; i < LARGE; i++) {
        const char *row = arena_format(&scene.arena, "%02d", i).data;

        scene_write(&scene, a_write(WRITE_INSERT, "p", row,
                                some_texts(&scene.arena, "City", "Bonn", "N1", note, "N2", note, "N3", note,
                                    "N4", note, "N5", note, "N6", note, NULL)));
        buf_append(rows, str_of(row));
    }
}

static size_t bytes_in(const struct operation *lookup)
{
    size_t bytes = 0;

    for (size_t i = 0; i < lookup->out.lookup.count; i++)
        bytes += lookup->out.lookup.entities[i].properties.bytes.len;
    return bytes;
}

START_TEST(a_page_of_the_latest_keeps_no_more_than_a_page_may_examine)
{
    struct buf want, got;
    int pages = 0;

    make_index_of_all();
    buf_init(&want, &scene.arena);
    buf_init(&got, &scene.arena);
    put_large(&want);
    for (struct operation *page = NULL; !page || page->out.lookup.more; pages++) {
        struct operation *next = the_latest("Bonn");

        next->table = STR_LITERAL("AllByCity");
        next->in.lookup.trust_index = true;
        next->in.lookup.has_after = page != NULL;
        if (page)
            next->in.lookup.after = page->out.lookup.position;
        buf_append(&got, str_of(found(next)));
        ck_assert_uint_le(bytes_in(next), LIMIT_PAGE_EXAMINED_BYTES);
        page = next;
    }
    ck_assert(str_equal(buf_str(&got), buf_str(&want)));
    ck_assert_int_gt(pages, 1);
}
END_TEST

START_TEST(the_latest_wait_while_too_much_is_open)
{
    test_sql(scene.sql,
        "insert into intents select 0, gen_random_uuid(), 1, %lld, 'q', n::text, 1 from generate_series(1, "
        "1001) n",
        (long long)city_index.source_table_id);
    put("a", "Bonn");

    struct operation *waiting = the_latest("Bonn");
    submit(scene.store, waiting);
    refused(in_haste(the_latest("Bonn")), "NOT_FRESH_ENOUGH", "more than 1000");
    ck_assert(!is_answered(waiting));
    test_sql(scene.sql, "delete from intents where row_key = '1' or row_key = '2'");
    await(waiting);
    ck_assert_str_eq(rows_in(waiting), "a");
}
END_TEST

/* ---- many ---- */

#define LANE_SESSIONS                                                                                        \
    "from pg_stat_activity where datname = current_database() "                                              \
    "and application_name ~ 'tavolad (read|write|bulk|short|page|change|waits)'"

/* Until then look-ups are in the lane of short reads, which refuses others while it is full. */
static void await_waiting(struct store *store, int64_t count)
{
    struct store_statistics statistics;

    do {
        sched_yield();
        store_read_statistics(store, &statistics);
    } while (statistics.waiting < count);
}

START_TEST(thousands_wait_without_connections)
{
    struct store_options options = plain_options(scene.conninfo);
    struct operation **waiting = ARENA_ARRAY(&scene.arena, struct operation *, MANY);
    const struct consistency *token = put("a", "Bonn");
    long long before, sessions = test_number(scene.sql, "select count(*) " LANE_SESSIONS);
    struct store *store;

    options.max_waiting = MANY;
    options.connect_late = false; /* so that every connection is counted */
    store = store_open(&options);
    run(store, a_lookup("Bonn"));
    before = sessions + 11; /* one for each thread: two that write, three of bulk writes, two of pages */
    test_await(scene.sql, "select (count(*) = %lld)::int " LANE_SESSIONS, before);
    for (int i = 0; i < MANY; i++) {
        waiting[i] = a_lookup_after("Bonn", token);
        submit(store, waiting[i]);
    }
    await_waiting(store, MANY);
    struct operation *refused_one = a_lookup_after("Bonn", token), *read = a_lookup("Rome");
    run(store, refused_one);
    ck_assert_reason(refused_one, "SERVER_BUSY");
    run(store, read);
    ck_assert_reason(read, "OK");
    ck_assert_int_eq(test_number(scene.sql, "select count(*) " LANE_SESSIONS), before);
    for (int i = 0; i < MANY; i++)
        ck_assert(!is_answered(waiting[i]));
    reconcile("a");
    for (int i = 0; i < MANY; i++) {
        await(waiting[i]);
        ck_assert_str_eq(rows_in(waiting[i]), "a");
    }
    store_close(store);
}
END_TEST

START_TEST(without_a_database_waiting_lookups_are_refused)
{
    struct tcp_proxy *proxy = tcp_proxy_start(scene.conninfo);
    struct store_options options = plain_options(tcp_proxy_conninfo(proxy));
    struct operation *waiting = a_lookup_after("Bonn", put("a", "Bonn"));
    struct store *store = store_open(&options);

    run(store, a_lookup("Bonn"));
    waiting->deadline_us = clock_monotonic_us() + 2 * SOON_US;
    submit(store, waiting);
    tcp_proxy_down(proxy, true);
    await(waiting);
    refused(waiting, "NOT_FRESH_ENOUGH", "the database could not be queried");
    ck_assert_str_eq(waiting->error->message, "the database could not be queried"); /* not what libpq said */
    store_close(store);
    tcp_proxy_stop(proxy);
}
END_TEST

START_TEST(a_stopping_server_answers_them)
{
    struct store_options options = plain_options(scene.conninfo);
    struct store *store = store_open(&options);
    struct operation *waiting = a_lookup_after("Bonn", put("a", "Bonn"));

    submit(store, waiting);
    store_drain(store);
    await(waiting);
    ck_assert_reason(waiting, "SERVER_DRAINING");
    store_close(store);
}
END_TEST

/* Guard G19: a crash before this connection was made may have undone what another connection has seen. */
START_TEST(a_connection_younger_than_the_answer_asks_again)
{
    struct operation *lookup = a_lookup_after("Bonn", put("a", "Bonn"));
    struct session session;
    struct error err;

    session_init(&session, scene.conninfo, "test");
    ck_assert_int_eq(session_ensure(&session, &err), STATUS_OK);
    operation_times_set_fresh(lookup, session.pg.connected_us - 1);
    lookup_read_run(&session, lookup);
    refused(lookup, "STORE_UNAVAILABLE", "not reached the index");

    reconcile("a");
    lookup_read_run(&session, lookup);
    ck_assert_str_eq(rows_in(lookup), "a");

    put("a", "Rome");
    lookup->in.lookup.freshness.at_least = ARENA_NEW(lookup->arena, struct consistency);
    *lookup->in.lookup.freshness.at_least = *put("b", "Bonn");
    ck_assert_int_ge(operation_times_fresh_us(lookup), session.pg.connected_us);
    lookup_read_run(&session, lookup);
    ck_assert_str_eq(rows_in(lookup), "");
    session_cleanup(&session);
}
END_TEST

Suite *test_freshness_suite(void)
{
    Suite *suite = suite_create("fresh");
    TCase *tc = tcase_create("fresh");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_write_names_the_intents_it_leaves_open);
    tcase_add_test(tc, a_group_names_all_of_them_and_a_repeat_the_same);
    tcase_add_test(tc, a_read_waits_for_the_write_it_names);
    tcase_add_test(tc, a_token_is_no_position_in_a_sequence);
    tcase_add_test(tc, a_write_that_was_given_up_is_not_waited_for);
    tcase_add_test(tc, what_is_redriven_is_waited_for_again);
    tcase_add_test(tc, tokens_of_another_time_or_table_are_refused);
    tcase_add_test(tc, an_index_that_is_not_ready_says_so);
    tcase_add_test(tc, a_transaction_is_waited_for_with_all_it_does);
    tcase_add_test(tc, an_unknown_transaction_is_not_waited_for);
    tcase_add_test(tc, a_connection_younger_than_the_answer_asks_again);
    tcase_add_test(tc, staleness_is_bounded);
    tcase_add_test(tc, only_open_intents_of_the_same_table_make_an_index_stale);
    tcase_add_test(tc, an_index_that_is_not_ready_is_not_waited_for);
    tcase_add_test(tc, an_index_that_is_far_behind_is_not_fresh);
    tcase_add_loop_test(tc, a_time_that_lies_ahead_says_nothing, 0, 2);
    tcase_add_loop_test(tc, the_latest_are_read_around_what_is_open, 0, 4);
    tcase_add_test(tc, the_latest_are_right_where_keys_were_given_up);
    tcase_add_loop_test(tc, pages_of_the_latest_are_those_of_an_index_that_is_fresh, 0, 6);
    tcase_add_test(tc, a_page_of_the_latest_keeps_no_more_than_a_page_may_examine);
    tcase_add_test(tc, the_latest_wait_while_too_much_is_open);
    tcase_add_test(tc, thousands_wait_without_connections);
    tcase_add_test(tc, without_a_database_waiting_lookups_are_refused);
    tcase_add_test(tc, a_stopping_server_answers_them);
    suite_add_tcase(suite, tc);
    return suite;
}
