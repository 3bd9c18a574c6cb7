/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_copy_visit.c - writes ask for the work of copy rules, and visits bring a changed source to all its dependents
 * (guard G71). The rule is that of copy_world.h.
 */
#include "store/copies/copy_visit.h"

#include <check.h>

#include "base/macros.h"
#include "store/dead_letters/dead_letter_work.h"
#include "store/entities/write_batch.h"
#include "store/indexes/index_calls.h"
#include "store/redrive_preview.h"
#include "tests/support/builders.h"
#include "tests/support/calls.h"
#include "tests/support/copy_world.h"
#include "tests/support/index_calls.h"
#include "tests/support/transaction_calls.h"

static struct world world;
static struct intent made[64]; /* by the writes of the session */
static size_t made_count;

static void setup(void)
{
    const struct copy_rule rule = copy_world_rule();

    made_count = 0;
    copy_world_open(&world);
    copy_world_add_rule(&world, RULE, &rule);
    test_sql(world.sql,
        "insert into operations (operation_id, account, kind, target, state, started, table_id) "
        "values ('', 'acme', 'build', '', 3, 1, %d)",
        TABLE_ID);
}

static void teardown(void)
{
    world_close(&world);
}

/* ---- words ---- */

static void keep(void *context, const struct intent *intents, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count && made_count < ARRAY_LEN(made); i++) {
        made[made_count] = intents[i];
        made[made_count].key = (struct entity_key){ arena_copy(&world.arena, intents[i].key.partition),
            arena_copy(&world.arena, intents[i].key.row) };
        made_count++;
    }
}

static struct operation *run_write_of(const char *table, struct write write)
{
    const struct commit_observer observer = { .intents_committed = keep };
    struct operation *operation = an_operation(&world.arena, OPERATION_WRITE, table);

    operation->in.write = (struct operation_write){
        .writes = ARENA_NEW(&world.arena, struct write), .count = 1, .atomic = true
    };
    operation->in.write.writes[0] = write;
    write_batch_run(&world.writer, operation, (void *)(uintptr_t)&observer);
    arena_cleanup(&world.writer.arena);
    ck_assert_reason(operation, "OK");
    return operation;
}

static struct operation *put_manager(const char *row, const char *name, const char *secret)
{
    return run_write_of("Managers", a_write(WRITE_INSERT_OR_REPLACE, "acme", row,
                                        some_texts(&world.arena, "Name", name, "Secret", secret, NULL)));
}

static void put_person(const char *row, const char *names, const char *note)
{
    run_write_of("People", a_write(WRITE_INSERT_OR_MERGE, "p", row,
                               some_texts(&world.arena, "Manager", names, "Note", note, NULL)));
}

static long long open_work(enum intent_kind kind)
{
    return test_number(
        world.sql, "select count(*) from intents where kind = %d and table_id = %d", kind, RULE);
}

static void forget_work(void)
{
    test_sql(world.sql, "delete from intents");
    made_count = 0;
}

static struct intent visit_of(const char *row)
{
    return (struct intent){ .bucket = entity_key_bucket(MANAGERS, STR_LITERAL("acme")),
        .kind = INTENT_VISIT,
        .table_id = RULE,
        .key = { STR_LITERAL("acme"), str_of(row) } };
}

static bool visit_ends(const char *row)
{
    const struct intent intent = visit_of(row);
    struct copy_turn turn = { .intent = &intent, .limit = COPY_BATCH_KEYS };
    struct error err = { 0 };

    ck_assert_msg(copy_visit_step(world.worker, &turn, &err) == STATUS_OK, "visit: %s", err.message);
    return turn.is_over;
}

static void visit_all_of(const char *row)
{
    for (int i = 0; i < 50; i++)
        if (visit_ends(row) && open_work(INTENT_VISIT) == 0)
            return;
    ck_abort_msg("the visit does not end");
}

/* How many people have this copy. */
static long long copies_of(const char *boss)
{
    return test_number(world.sql,
        "select count(*) from entities where table_id = %d and position(convert_to('%s', 'UTF8') in "
        "properties) "
        "> 0",
        TABLE_ID, boss);
}

static long long visits(void)
{
    return test_number(world.sql, "select count(*) from copy_visits");
}

/* count people of the manager, by one statement each for entities and entries. */
static void many_people(int count, const char *of)
{
    for (int i = 0; i < count; i++)
        put_person(arena_format(&world.arena, "r%05d", i).data, of, "x");
    forget_work();
}

/* ---- what writes ask for ---- */

START_TEST(a_write_of_a_source_asks_for_a_visit_if_what_is_copied_changes)
{
    put_manager("1", "Ada", "a");
    ck_assert_uint_eq(made_count, 1);
    ck_assert_int_eq(made[0].kind, INTENT_VISIT);
    ck_assert_int_eq(made[0].table_id, RULE);
    ck_assert_int_eq(made[0].bucket, visit_of("1").bucket);
    ck_assert_int_eq(open_work(INTENT_VISIT), 1);
    put_manager("1", "Ada", "b");
    ck_assert_int_eq(open_work(INTENT_VISIT), 1);
    put_manager("1", "Grace", "b");
    ck_assert_int_eq(open_work(INTENT_VISIT), 2);
    run_write_of("Managers", a_write(WRITE_DELETE, "acme", "1", (struct property_list){ 0 }));
    ck_assert_int_eq(open_work(INTENT_VISIT), 3);
    run_write_of(
        "Managers", a_write(WRITE_INSERT, "other", "1", some_texts(&world.arena, "Name", "Ada", NULL)));
    ck_assert_int_eq(open_work(INTENT_VISIT), 3); /* all people name managers of acme */
    ck_assert_int_eq(open_work(INTENT_COPY), 0);
}
END_TEST

START_TEST(a_write_of_a_dependent_asks_for_its_copies)
{
    put_person("a", "1", "x");
    ck_assert_uint_eq(made_count, 1);
    ck_assert_int_eq(made[0].kind, INTENT_COPY);
    ck_assert_int_eq(made[0].bucket, world_message("a").bucket);
    ck_assert_int_eq(open_work(INTENT_COPY), 1);
    put_person("a", "1", "y");
    ck_assert_int_eq(open_work(INTENT_COPY), 1);
    put_person("a", "2", "y");
    ck_assert_int_eq(open_work(INTENT_COPY), 2);
    run_write_of("People", a_write(WRITE_MERGE, "p", "a", some_texts(&world.arena, "Boss", "I", NULL)));
    ck_assert_int_eq(open_work(INTENT_COPY), 3);
    ck_assert_int_eq(open_work(INTENT_VISIT), 0);
}
END_TEST

/* The manager's name is longer than the key of an index may be with the entity's note. */
START_TEST(a_dependent_whose_copy_an_index_refused_asks_with_each_write)
{
    struct key_part parts[] = { { .text = STR_LITERAL("Boss") }, { .text = STR_LITERAL("Note") } };
    char name[301] = { 0 };

    memset(name, 'n', sizeof(name) - 1);
    world_add_index(&world, BY_NOTE,
        (struct index){ .shape = INDEX_COPY,
            .place = PLACE_OTHER_PARTITION,
            .partition_key = { parts, 2 },
            .on_violation = VIOLATION_REJECT,
            .projection = PROJECT_KEYS_ONLY });
    put_manager("1", name, "a");
    put_person("a", "1", name);
    visit_all_of("1");
    ck_assert_int_eq(index_seen(&world, "PeopleBy2100").copies.refused, 1);

    forget_work();
    put_person("a", "1", "short");
    ck_assert_int_eq(open_work(INTENT_COPY), 1);
    put_manager("1", "Ada", "a");
    visit_all_of("1");
    ck_assert_int_eq(copies_of("Ada"), 1);
    ck_assert_int_eq(index_seen(&world, "PeopleBy2100").copies.refused, 0);
}
END_TEST

static bool names_intent(const struct consistency *token, struct intent_id id)
{
    struct intent_id first = intent_block_id(&token->blocks[0], token->blocks[0].first),
                     last = intent_block_id(&token->blocks[0], token->blocks[0].last);

    return intent_id_compare(first, id) <= 0 && intent_id_compare(id, last) <= 0;
}

START_TEST(the_token_of_a_write_names_the_work_of_rules)
{
    const struct consistency *token = put_manager("1", "Ada", "a")->out.write.left_open;

    ck_assert_ptr_nonnull(token);
    ck_assert_int_eq(token->table_id, MANAGERS);
    ck_assert_uint_eq(token->blocks[0].bucket_count, 1);
    ck_assert_int_eq(token->blocks[0].buckets[0], made[0].bucket);
    ck_assert(names_intent(token, made[0].id));
    ck_assert_ptr_null(put_manager("1", "Ada", "b")->out.write.left_open);
}
END_TEST

/* An index of the same table has an intent of its own beside that of the rule. */
START_TEST(every_intent_has_an_id_of_its_own)
{
    world_index(&world, BY_CITY, "Manager", 0);
    put_person("a", "1", "x");
    ck_assert_uint_eq(made_count, 2);
    ck_assert_int_eq(test_number(world.sql, "select count(distinct id) from intents"), 2);
    ck_assert_int_eq(test_number(world.sql, "select count(distinct kind) from intents"), 2);
}
END_TEST

START_TEST(a_step_of_a_transaction_asks_too)
{
    struct step steps[] = { step_put(&world.arena, "Managers", "1", "x") };
    const struct commit_observer observer = { .intents_committed = keep };

    steps[0].key.partition = STR_LITERAL("acme");
    call_succeeded(transaction_submitted(&world.writer, &world.arena, &observer, "t1", steps, 1));
    transaction_run(&world, "t1");
    ck_assert_int_eq(open_work(INTENT_VISIT), 1);
}
END_TEST

/* ---- visits ---- */

START_TEST(a_visit_copies_to_all_dependents_of_its_source)
{
    put_manager("1", "Ada", "a");
    put_manager("2", "Grace", "a");
    put_person("a", "1", "x");
    put_person("b", "2", "x");
    put_person("c", "1", "x");
    forget_work();
    put_manager("1", "Hopper", "a");
    visit_all_of("1");

    ck_assert_int_eq(copies_of("Hopper"), 2);
    ck_assert_int_eq(copies_of("Grace"), 0);
    ck_assert_int_eq(visits(), 0);
    ck_assert_int_eq(open_work(INTENT_COPY), 0); /* the copies ask for no look by their own rule */
}
END_TEST

START_TEST(a_visit_goes_on_where_it_was)
{
    many_people(COPY_BATCH_KEYS + 20, "1");
    put_manager("1", "Ada", "a");
    ck_assert(!visit_ends("1"));
    ck_assert_int_eq(copies_of("Ada"), COPY_BATCH_KEYS);
    ck_assert_int_eq(test_number(world.sql, "select visited from copy_visits"), COPY_BATCH_KEYS);
    ck_assert_int_eq(index_seen(&world, "PeopleBy2100").copies.visited, COPY_BATCH_KEYS);
    ck_assert_int_eq(index_seen(&world, "PeopleBy2100").copies.waiting_sources, 1);
    ck_assert_int_eq(open_work(INTENT_VISIT), 1);
    ck_assert(visit_ends("1"));
    ck_assert_int_eq(copies_of("Ada"), COPY_BATCH_KEYS + 20);
    ck_assert_int_eq(visits() + open_work(INTENT_VISIT), 0);
}
END_TEST

/* An entity that comes back before the sweeper has deleted it is compared with what the visit has left. */
START_TEST(a_dependent_that_has_expired_is_visited)
{
    put_person("a", "1", "x");
    test_sql(world.sql, "update entities set expires = 5 where table_id = %d", TABLE_ID);
    forget_work();
    put_manager("1", "Ada", "a");
    visit_all_of("1");

    ck_assert_int_eq(copies_of("Ada"), 1);
    ck_assert_int_eq(test_number(world.sql, "select expires from entities where table_id = %d", TABLE_ID), 5);
    put_person("a", "1", "x");
    ck_assert_int_eq(copies_of("Ada"), 0);
    ck_assert_int_eq(open_work(INTENT_COPY), 1);
}
END_TEST

/* 24 copies of a source of 960,000 bytes, of which a transaction may make 16 MiB. */
START_TEST(a_visit_of_a_large_source_copies_to_fewer_dependents_at_a_time)
{
    struct property_list name = some_texts(&world.arena, "Name", "Ada", NULL),
                         large = property_list_merge(copy_world_ballast(&world), name, &world.arena);

    many_people(24, "1");
    run_write_of("Managers", a_write(WRITE_INSERT_OR_REPLACE, "acme", "1", large));

    ck_assert(!visit_ends("1"));
    ck_assert_int_eq(copies_of("Ada"), 12);
    visit_all_of("1");
    ck_assert_int_eq(copies_of("Ada"), 24);
}
END_TEST

/* Guard G71. The first dependents were copied to before the change that comes during the visit. */
START_TEST(a_change_during_a_visit_asks_for_another_one)
{
    many_people(COPY_BATCH_KEYS + 1, "1");
    put_manager("1", "Ada", "a");
    ck_assert(!visit_ends("1"));
    put_manager("1", "Grace", "a");
    ck_assert(visit_ends("1"));

    ck_assert_int_eq(open_work(INTENT_VISIT), 1);
    ck_assert_int_eq(copies_of("Ada"), COPY_BATCH_KEYS);
    visit_all_of("1");
    ck_assert_int_eq(copies_of("Grace"), COPY_BATCH_KEYS + 1);
    ck_assert_int_eq(copies_of("Ada"), 0);
}
END_TEST

START_TEST(a_visit_without_an_open_intent_does_nothing)
{
    many_people(1, "1");
    put_manager("1", "Ada", "a");
    test_sql(world.sql, "delete from intents");
    ck_assert(visit_ends("1"));
    ck_assert_int_eq(visits(), 0);
    ck_assert_int_eq(copies_of("Ada"), 0);
}
END_TEST

START_TEST(a_visit_that_another_worker_is_at_is_left_to_it)
{
    many_people(COPY_BATCH_KEYS + 1, "1");
    put_manager("1", "Ada", "a");
    ck_assert(!visit_ends("1"));
    test_sql(world.sql, "begin; select from copy_visits for update");
    ck_assert(visit_ends("1"));
    test_sql(world.sql, "commit");
    ck_assert_int_eq(visits(), 1);
    ck_assert(visit_ends("1"));
    ck_assert_int_eq(copies_of("Ada"), COPY_BATCH_KEYS + 1);
}
END_TEST

START_TEST(the_work_of_a_dropped_rule_is_forgotten)
{
    many_people(COPY_BATCH_KEYS + 1, "1");
    put_manager("1", "Ada", "a");
    ck_assert(!visit_ends("1"));
    world_change(&world, "update indexes set state = %d where index_id = %d", INDEX_DROPPING, RULE);
    ck_assert(visit_ends("1"));
    ck_assert_int_eq(visits() + open_work(INTENT_VISIT), 0);
}
END_TEST

START_TEST(a_drop_removes_the_work_of_its_rule)
{
    const struct intent intent = visit_of("1");
    const struct error cause = { .status = STATUS_INTERNAL, .message = "broken" };
    struct error err = { 0 };
    int32_t failures = 0;

    many_people(COPY_BATCH_KEYS + 1, "1");
    put_manager("1", "Ada", "a");
    put_person("a", "1", "x");
    ck_assert(!visit_ends("1"));
    ck_assert_int_eq(
        dead_letter_work_count_failure(world.worker, &intent, &cause, &failures, &err), STATUS_OK);
    call_succeeded(index_dropped(&world, "PeopleBy2100"));
    run_chunks(world.worker);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from intents"), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
    ck_assert_int_eq(visits(), 0);
}
END_TEST

/* ---- failures ---- */

START_TEST(a_failing_visit_becomes_a_dead_letter_and_its_success_ends_it)
{
    const struct intent intent = visit_of("1");
    const struct error cause = { .status = STATUS_INTERNAL, .message = "broken" };
    struct error err = { 0 };
    int32_t failures = 0;

    many_people(1, "1");
    put_manager("1", "Ada", "a");
    ck_assert_int_eq(
        dead_letter_work_count_failure(world.worker, &intent, &cause, &failures, &err), STATUS_OK);
    ck_assert_int_eq(failures, 1);
    ck_assert_int_eq(
        test_number(world.sql, "select count(*) from dead_letters where kind = 4 and not dead"), 1);
    visit_all_of("1");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters"), 0);
    put_manager("1", "Grace", "a");
    ck_assert_int_eq(dead_letter_work_bury(world.worker, &intent, &err), STATUS_OK);
    ck_assert_int_eq(open_work(INTENT_VISIT), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters where kind = 4 and dead"), 1);
    ck_assert_int_eq(
        dead_letter_work_count_failure(world.worker, &intent, &cause, &failures, &err), STATUS_OK);
    ck_assert_int_eq(failures, 0); /* nothing is open */
}
END_TEST

/* What a redrive of all dead letters would change; there is one. */
static struct dead_letter_difference dry_run(void)
{
    struct operation *operation = call_make(&world.arena, OPERATION_DEAD_LETTERS_REDRIVE, "");

    operation->in.dead_letters = (struct operation_dead_letters){
        .filter = { .state = DEAD_LETTER_DEAD, .queue = -1, .queues = 4 }, .limit = 100, .dry_run = true
    };
    redrive_preview_run(&world.writer, operation);
    arena_cleanup(&world.writer.arena);
    call_succeeded(operation);
    ck_assert_uint_eq(operation->out.dead_letters.count, 1);
    return operation->out.dead_letters.differences[0];
}

static void bury(const struct intent *intent)
{
    struct error err = { 0 };

    ck_assert_msg(dead_letter_work_bury(world.worker, intent, &err) == STATUS_OK, "%s", err.message);
}

START_TEST(a_dry_run_of_a_redrive_counts_the_dependents_that_a_visit_has_left)
{
    const struct intent intent = visit_of("1");

    many_people(COPY_BATCH_KEYS + 3, "1");
    many_people(2, "2"); /* who are among them, and have left */
    put_manager("1", "Ada", "a");
    bury(&intent);
    ck_assert_int_eq(dry_run().dependents, COPY_BATCH_KEYS + 1);
    test_sql(world.sql, "delete from dead_letters");
    put_manager("1", "Grace", "a");
    ck_assert(!visit_ends("1")); /* one commit of the visit */
    bury(&intent);
    ck_assert_int_eq(dry_run().dependents, 1);
    ck_assert_int_eq(dry_run().violations, 0);
    ck_assert_int_eq(open_work(INTENT_VISIT), 0);
}
END_TEST

START_TEST(a_dry_run_of_a_redrive_tells_whether_the_copies_of_a_dependent_would_change)
{
    const struct intent intent = { .bucket = entity_key_bucket(TABLE_ID, STR_LITERAL("p")),
        .kind = INTENT_COPY,
        .table_id = RULE,
        .key = { STR_LITERAL("p"), STR_LITERAL("r00000") } };
    struct copy_counts counts = { 0 };
    struct error err = { 0 };

    many_people(1, "1");
    put_manager("1", "Ada", "a");
    put_person("r00000", "2", "x");
    put_person("r00000", "1", "x");
    bury(&intent);
    forget_work();

    ck_assert_int_eq(dry_run().copies, 1);

    ck_assert_int_eq(copies_of("Ada"), 0);
    ck_assert_int_eq(open_work(INTENT_COPY), 0);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from dead_letters where dead"), 1);
    ck_assert_msg(
        copy_work_force(world.worker, RULE, &intent.key, 1, &counts, &err) == STATUS_OK, "%s", err.message);
    ck_assert_int_eq(copies_of("Ada"), 1);
    test_sql(world.sql,
        "delete from dead_letters; insert into dead_letters (kind, table_id, partition_key, row_key, bucket, "
        "index_id, dead, failures, cause, history) values (%d, %d, 'p', 'r00000', %d, 0, true, 1, 'x', '')",
        INTENT_COPY, RULE, intent.bucket);
    ck_assert_int_eq(dry_run().copies, 0);
}
END_TEST

Suite *test_copy_visit_suite(void)
{
    Suite *suite = suite_create("copy_visit");
    TCase *asks = tcase_create("asks"), *visit = tcase_create("visit");

    tcase_add_checked_fixture(asks, setup, teardown);
    tcase_add_test(asks, a_write_of_a_source_asks_for_a_visit_if_what_is_copied_changes);
    tcase_add_test(asks, a_write_of_a_dependent_asks_for_its_copies);
    tcase_add_test(asks, a_dependent_whose_copy_an_index_refused_asks_with_each_write);
    tcase_add_test(asks, the_token_of_a_write_names_the_work_of_rules);
    tcase_add_test(asks, every_intent_has_an_id_of_its_own);
    tcase_add_test(asks, a_step_of_a_transaction_asks_too);
    suite_add_tcase(suite, asks);
    tcase_add_checked_fixture(visit, setup, teardown);
    tcase_add_test(visit, a_visit_copies_to_all_dependents_of_its_source);
    tcase_add_test(visit, a_visit_goes_on_where_it_was);
    tcase_add_test(visit, a_dependent_that_has_expired_is_visited);
    tcase_add_test(visit, a_visit_of_a_large_source_copies_to_fewer_dependents_at_a_time);
    tcase_add_test(visit, a_change_during_a_visit_asks_for_another_one);
    tcase_add_test(visit, a_visit_without_an_open_intent_does_nothing);
    tcase_add_test(visit, a_visit_that_another_worker_is_at_is_left_to_it);
    tcase_add_test(visit, the_work_of_a_dropped_rule_is_forgotten);
    tcase_add_test(visit, a_drop_removes_the_work_of_its_rule);
    tcase_add_test(visit, a_failing_visit_becomes_a_dead_letter_and_its_success_ends_it);
    tcase_add_test(visit, a_dry_run_of_a_redrive_counts_the_dependents_that_a_visit_has_left);
    tcase_add_test(visit, a_dry_run_of_a_redrive_tells_whether_the_copies_of_a_dependent_would_change);
    suite_add_tcase(suite, visit);
    return suite;
}
