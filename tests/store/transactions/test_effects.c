/* SPDX-License-Identifier: Apache-2.0 */
/* Steps with an effect outside the database: noted, performed, settled. */
#include <check.h>
#include <string.h>

#include "domain/entities/entity.h"
#include "domain/transactions/effect.h"
#include "store/transactions/transaction_calls.h"
#include "store/transactions/transaction_work.h"
#include "tests/support/calls.h"
#include "tests/support/transaction_calls.h"
#include "tests/support/worker_world.h"

static struct world world;
static struct effects effects;

/* What was performed: the contents, one behind the other with a "|" behind each. */
static char performed[512];
static int times;
static int64_t offsets[8];      /* by the number of the performance, from 1 */
static int failures_left;       /* performing fails after its effect */
static void (*meanwhile)(void); /* called while the effect is performed; NULL: nothing */

static void write_entity(void *context, const struct entity *entity, struct buf *out)
{
    struct str row = entity->key.row;

    (void)context;
    buf_append(out, row);
    buf_append_byte(out, ':');
    buf_append_byte(out, (uint8_t)('0' + entity->etag.version % 10));
}

/* A content without a name, as the effect of put_blob leaves it. Returns its ETag. */
static struct str complete_content(int number, struct arena *arena)
{
    test_sql(world.sql,
        "insert into blob_contents (account, content_id, state, size, writer, kept_until, sha256, "
        "content_type, created) "
        "values ('acme', '00000000-0000-0000-0000-%012x', 4, 1, 1, now() + interval '1 hour', 'x', '', 1)",
        (unsigned)number);
    return arena_format(arena, "\"%032x\"", (unsigned)number);
}

static enum status perform(void *context, const struct effect *effect, struct arena *arena,
    struct receipt *receipt, struct error *err)
{
    struct str content = effect_content(effect);
    int number = ++times;

    (void)context;
    strncat(performed, content.data, content.len);
    strcat(performed, "|");
    if (meanwhile) {
        void (*once)(void) = meanwhile;

        meanwhile = NULL;
        once();
    }
    if (failures_left-- > 0)
        return error_set(err, STATUS_INTERNAL, "the effect fails");
    offsets[times % 8] = effect->note.offset;
    *receipt = (struct receipt){
        .size = (int64_t)content.len, .digest = effect_digest(content, arena), .offset = effect->note.offset
    };
    if (effect->step.kind == STEP_PUT_BLOB)
        receipt->etag = complete_content(number, arena);
    return STATUS_OK;
}

static void setup(void)
{
    world_open(&world);
    performed[0] = '\0';
    times = failures_left = 0;
    meanwhile = NULL;
    effects = (struct effects){ NULL, write_entity, perform };
    transaction_work_use(world.worker, &effects);
}

static void teardown(void)
{
    world_close(&world);
}

/* ---- words ---- */

static struct step a_file(const char *row, bool deletes)
{
    return (struct step){ .kind = STEP_WRITE_FILE,
        .path = STR_LITERAL("a"),
        .table = STR_LITERAL("People"),
        .key = call_key("p", row),
        .deletes_entity = deletes };
}

static void submit(struct step *steps, size_t count)
{
    call_succeeded(transaction_submitted(&world.writer, &world.arena, NULL, "t1", steps, count));
}

static bool is_there(const char *row)
{
    return test_number(world.sql, "select count(*) from entities where row_key = '%s' and not dead", row) ==
           1;
}

static long long state_now(void)
{
    return test_number(world.sql, "select state from transactions");
}

static long long is_noted(void)
{
    return test_number(world.sql, "select count(*) from transactions where effect is not null");
}

static void fail_a_step(void)
{
    struct intent intent = { .kind = INTENT_TRANSACTION, .key = { STR_LITERAL("acme"), STR_LITERAL("t1") } };
    struct error err = { 0 };
    bool finished;

    intent.bucket = transaction_calls_bucket(intent.key.row);
    ck_assert_int_ne(transaction_work_step(world.worker, &intent, NULL, &finished, &err), STATUS_OK);
}

/* ---- the three parts ---- */

static void look_at_the_note(void)
{
    ck_assert_int_eq(is_noted(), 1);
    ck_assert_int_eq(state_now(), TRANSACTION_RUNNING);
    ck_assert(is_there("a"));
}

START_TEST(an_effect_is_noted_before_it_is_performed) /* guard G15 */
{
    struct step steps[] = { a_file("a", true) };
    struct transaction seen;

    world_put(&world, "a", "Rome", NULL);
    submit(steps, 1);
    meanwhile = look_at_the_note;
    ck_assert(transaction_step(world.worker, "t1"));

    ck_assert_str_eq(performed, "a:1|");
    ck_assert(!is_there("a"));
    ck_assert_int_eq(is_noted(), 0);
    seen = transaction_seen(&world, "t1");
    ck_assert_int_eq(seen.state, TRANSACTION_DONE);
    ck_assert_int_eq(seen.timeline[0].receipt.size, 3);
    ck_assert_uint_eq(seen.timeline[0].receipt.digest.len, 32);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from intents where kind = 2"), 0);
}
END_TEST

START_TEST(a_repeat_performs_what_was_noted) /* guard G15 */
{
    struct step steps[] = { a_file("a", false) };

    world_put(&world, "a", "Rome", NULL);
    submit(steps, 1);
    failures_left = 1;
    fail_a_step();
    world_put(&world, "a", "Oslo", NULL);
    ck_assert(transaction_step(world.worker, "t1"));

    ck_assert_str_eq(performed, "a:1|a:1|");
    ck_assert_int_eq(state_now(), TRANSACTION_DONE);
}
END_TEST

static void let_another_worker_do(const char *id)
{
    struct worker *other = world_worker(&world, "worker-2");

    transaction_work_use(other, &effects);
    (void)transaction_step(other, id);
    worker_close(other);
}

static void let_another_worker_do_it(void)
{
    let_another_worker_do("t1");
}

START_TEST(a_late_worker_settles_nothing) /* guard G17 */
{
    struct step steps[] = { a_file("a", false), step_put(&world.arena, "People", "b", "1"),
        step_put(&world.arena, "People", "c", "1") };
    struct transaction seen;

    world_put(&world, "a", "Rome", NULL);
    submit(steps, ARRAY_LEN(steps));
    meanwhile = let_another_worker_do_it;
    ck_assert(!transaction_step(world.worker, "t1"));

    seen = transaction_seen(&world, "t1");
    ck_assert_int_eq(times, 2);
    ck_assert_int_eq(seen.steps_done, 1);
    ck_assert_uint_eq(seen.attempt_count, 1);
    ck_assert(!is_there("b"));
}
END_TEST

static void change_the_entity(void)
{
    world_put(&world, "a", "Oslo", NULL);
}

START_TEST(an_entity_that_has_changed_is_not_deleted) /* guard G50 */
{
    struct step steps[] = { a_file("a", true) };
    struct transaction seen;

    world_put(&world, "a", "Rome", NULL);
    submit(steps, 1);
    meanwhile = change_the_entity;
    ck_assert(transaction_step(world.worker, "t1"));

    ck_assert(is_there("a"));
    seen = transaction_seen(&world, "t1");
    ck_assert_int_eq(seen.state, TRANSACTION_FAILED);
    transaction_attempted(&seen, 0, STATUS_STALE, "UPDATE_CONDITION_NOT_SATISFIED");
    ck_assert_int_eq(is_noted(), 0);
}
END_TEST

START_TEST(an_entity_that_is_absent_ends_the_transaction)
{
    struct step steps[] = { a_file("none", true) };
    struct transaction seen;

    submit(steps, 1);
    ck_assert(transaction_step(world.worker, "t1"));

    ck_assert_int_eq(times, 0);
    seen = transaction_seen(&world, "t1");
    ck_assert_int_eq(seen.state, TRANSACTION_FAILED);
    transaction_attempted(&seen, 0, STATUS_NOT_FOUND, "RESOURCE_NOT_FOUND");
    ck_assert_int_eq(test_number(world.sql, "select count(*) from entities"), 0);
}
END_TEST

START_TEST(a_precondition_is_of_the_entity)
{
    struct step steps[] = { a_file("a", false) };

    world_put(&world, "a", "Rome", NULL);
    steps[0].condition = (struct condition){ .text = STR_LITERAL("City eq 'Oslo'") };
    submit(steps, 1);
    ck_assert(transaction_step(world.worker, "t1"));

    ck_assert_int_eq(times, 0);
    ck_assert_int_eq(state_now(), TRANSACTION_FAILED);
    ck_assert(is_there("a"));
}
END_TEST

static void try_to_cancel(void)
{
    struct operation *cancel = call_make(&world.arena, OPERATION_TRANSACTION_CANCEL, "");

    cancel->in.transaction.transaction.id = STR_LITERAL("t1");
    transaction_calls_cancel(&world.writer, cancel);
    arena_cleanup(&world.writer.arena);
    call_failed(cancel, "TRANSACTION_STARTED");
}

START_TEST(what_has_begun_cannot_be_cancelled) /* guard G15 */
{
    struct step steps[] = {
        { .kind = STEP_WRITE_FILE, .path = STR_LITERAL("a"), .content = STR_LITERAL("data") }
    };

    submit(steps, 1);
    meanwhile = try_to_cancel;
    ck_assert(transaction_step(world.worker, "t1"));
    ck_assert_str_eq(performed, "data|");
    ck_assert_int_eq(state_now(), TRANSACTION_DONE);
}
END_TEST

START_TEST(a_worker_without_effects_does_not_begin)
{
    struct step steps[] = {
        { .kind = STEP_WRITE_FILE, .path = STR_LITERAL("a"), .content = STR_LITERAL("data") }
    };

    submit(steps, 1);
    transaction_work_use(world.worker, NULL);
    fail_a_step();
    ck_assert_int_eq(state_now(), TRANSACTION_PENDING);
}
END_TEST

static struct step an_append(const char *content)
{
    return (struct step){ .kind = STEP_APPEND_FILE, .path = STR_LITERAL("log"), .content = str_of(content) };
}

static void append_something_else(void)
{
    struct step steps[] = { an_append("other") };

    call_succeeded(transaction_submitted(&world.writer, &world.arena, NULL, "t2", steps, 1));
    let_another_worker_do("t2");
}

START_TEST(a_range_is_given_once) /* guard G52 */
{
    struct step steps[] = { an_append("one"), an_append("two") };

    submit(steps, 2);
    meanwhile = append_something_else; /* has offset 3, and is performed second */
    ck_assert(!transaction_step(world.worker, "t1"));
    ck_assert(transaction_step(world.worker, "t1"));

    ck_assert_str_eq(performed, "one|other|two|");
    ck_assert_int_eq(test_number(world.sql, "select size from appended_files"), 11);
    ck_assert_int_eq(test_number(world.sql, "select settled from appended_files"), 11);
    ck_assert_int_eq(transaction_seen(&world, "t1").timeline[0].receipt.offset, 0);
    ck_assert_int_eq(transaction_seen(&world, "t2").timeline[0].receipt.offset, 3);
    ck_assert_int_eq(transaction_seen(&world, "t1").timeline[1].receipt.offset, 8);
}
END_TEST

START_TEST(a_repeated_append_has_the_same_range) /* guard G52 */
{
    struct step steps[] = { an_append("one") };

    submit(steps, 1);
    failures_left = 1;
    fail_a_step();
    ck_assert(transaction_step(world.worker, "t1"));
    ck_assert_int_eq(times, 2);
    ck_assert_int_eq(transaction_seen(&world, "t1").timeline[0].receipt.offset, 0);
    ck_assert_int_eq(test_number(world.sql, "select size from appended_files"), 3);
}
END_TEST

START_TEST(a_file_that_would_be_too_large_ends_the_transaction)
{
    struct step steps[] = { an_append("one") };
    struct transaction seen;

    submit(steps, 1);
    test_sql(world.sql,
        "insert into appended_files select 0, 'acme', 'f' || n, 1 from generate_series(1, 10000) n");
    ck_assert(transaction_step(world.worker, "t1"));
    seen = transaction_seen(&world, "t1");
    ck_assert_int_eq(seen.state, TRANSACTION_FAILED);
    transaction_attempted(&seen, 0, STATUS_LIMIT, "FILE_TOO_LARGE");
    ck_assert_int_eq(times, 0);
}
END_TEST

/* ---- blobs ---- */

static struct step a_blob(const char *content)
{
    return (struct step){ .kind = STEP_PUT_BLOB, .path = STR_LITERAL("b"), .content = str_of(content) };
}

/* The number of the performance whose content the blob "b" points to; 0: there is no such blob. */
static long long content_of_blob(void)
{
    return test_number(world.sql,
        "select coalesce((select ('x' || right(replace(content_id::text, '-', ''), 8))::bit(32)::int "
        "from blobs where name = 'b'), 0)");
}

static void carry_out_meanwhile(void)
{
    let_another_worker_do("t1");
    ck_assert_int_eq(content_of_blob(), 2);
}

START_TEST(a_late_worker_does_not_point_a_blob_to_its_content) /* guard G17 */
{
    struct step steps[] = { a_blob("data") };

    submit(steps, 1);
    meanwhile = carry_out_meanwhile;
    (void)transaction_step(world.worker, "t1");
    ck_assert_int_eq(times, 2);
    ck_assert_int_eq(content_of_blob(), 2);
    ck_assert_int_eq(state_now(), TRANSACTION_DONE);
    ck_assert_int_eq(test_number(world.sql, "select count(*) from blob_contents where state = 4"), 1);
}
END_TEST

START_TEST(a_put_that_failed_after_its_effect_is_made_once)
{
    struct step steps[] = { a_blob("data") };

    submit(steps, 1);
    failures_left = 1;
    fail_a_step();
    ck_assert_int_eq(content_of_blob(), 0);
    (void)transaction_step(world.worker, "t1");
    ck_assert_int_eq(content_of_blob(), 2);
}
END_TEST

START_TEST(a_put_whose_content_was_collected_begins_again)
{
    struct step steps[] = { a_blob("data") };

    submit(steps, 1);
    test_sql(world.sql,
        "create function f() returns trigger as 'begin new.state := 3; return new; end' language plpgsql");
    test_sql(world.sql, "create trigger t before insert on blob_contents for each row execute function f()");
    fail_a_step();
    test_sql(world.sql, "drop trigger t on blob_contents");
    (void)transaction_step(world.worker, "t1");
    ck_assert_int_eq(content_of_blob(), times);
    ck_assert_int_eq(state_now(), TRANSACTION_DONE);
}
END_TEST

Suite *test_effects_suite(void)
{
    Suite *suite = suite_create("effects");
    TCase *tc = tcase_create("effects");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, an_effect_is_noted_before_it_is_performed);
    tcase_add_test(tc, a_repeat_performs_what_was_noted);
    tcase_add_test(tc, a_late_worker_settles_nothing);
    tcase_add_test(tc, an_entity_that_has_changed_is_not_deleted);
    tcase_add_test(tc, an_entity_that_is_absent_ends_the_transaction);
    tcase_add_test(tc, a_precondition_is_of_the_entity);
    tcase_add_test(tc, what_has_begun_cannot_be_cancelled);
    tcase_add_test(tc, a_worker_without_effects_does_not_begin);
    tcase_add_test(tc, a_range_is_given_once);
    tcase_add_test(tc, a_repeated_append_has_the_same_range);
    tcase_add_test(tc, a_file_that_would_be_too_large_ends_the_transaction);
    tcase_add_test(tc, a_late_worker_does_not_point_a_blob_to_its_content);
    tcase_add_test(tc, a_put_that_failed_after_its_effect_is_made_once);
    tcase_add_test(tc, a_put_whose_content_was_collected_begins_again);
    suite_add_tcase(suite, tc);
    return suite;
}
