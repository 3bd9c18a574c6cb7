/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_service.c - every group of libtavola's calls beside a server and a worker, those of TAVOLA_TARGET: the scenario
 * c_client starts them. Each test has a table of its own.
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/tavola.h"

enum { WAIT_MS = 60000, MANY = 2500 };

static struct tavola *client;
static struct tavola_error error;
static char table[64];

static void setup(void)
{
    static const struct tavola_options options = { .timeout_ms = WAIT_MS };

    ck_assert_msg(tavola_open(&options, &client, &error) == TAVOLA_OK, "%s", error.message);
    snprintf(table, sizeof(table), "T%d", (int)getpid());
    ck_assert_msg(tavola_create_table(client, table, &error) == TAVOLA_OK, "%s", error.message);
}

static void teardown(void)
{
    ck_assert_msg(tavola_delete_table(client, table, &error) == TAVOLA_OK, "%s", error.message);
    tavola_close(client);
}

#define OK(call)                                                                                             \
    ck_assert_msg(                                                                                           \
        (call) == TAVOLA_OK, "%s / %s: %s", tavola_code_name(error.code), error.reason, error.message)

static struct tavola_entity *a_person(const char *row, int age)
{
    struct tavola_entity *entity = tavola_entity_new(TAVOLA_KEY("p", row));

    tavola_entity_set_int32(entity, "Age", age);
    tavola_entity_set_string(entity, "Name", age % 2 ? "Ada" : "Grace");
    return entity;
}

static void put(const char *row, int age)
{
    struct tavola_entity *entity = a_person(row, age);

    OK(tavola_write(client, table, TAVOLA_INSERT_OR_REPLACE, entity, NULL, &error));
    tavola_entity_free(entity);
}

static void import_people(int count)
{
    struct tavola_import *import = tavola_import(client, &(struct tavola_import_options){ .table = table });
    char row[16];

    for (int i = 0; i < count; i++) {
        struct tavola_entity *entity;

        snprintf(row, sizeof(row), "%06d", i);
        entity = a_person(row, i);
        OK(tavola_import_add(import, entity, &error));
        tavola_entity_free(entity);
    }
    OK(tavola_import_finish(import, &error));
    ck_assert_int_eq(tavola_import_committed(import), count);
    ck_assert_int_eq(tavola_import_settled(import), count);
    tavola_import_free(import);
}

/* ---- writes and reads ---- */

START_TEST(an_entity_goes_round_with_every_type)
{
    struct tavola_entity *entity = a_person("1", 36), *read = NULL;
    char *before, *after;

    tavola_entity_set_int64(entity, "Salary", INT64_MAX);
    tavola_entity_set_double(entity, "Share", 1e300);
    tavola_entity_set_boolean(entity, "Active", true);
    tavola_entity_set_datetime(entity, "Born", (struct tavola_time){ 1, 100 });
    tavola_entity_set_guid(entity, "Id", "00112233-4455-6677-8899-aabbccddeeff");
    tavola_entity_set_binary(entity, "Photo", "\0\xff", 2);
    tavola_entity_set_expires(entity, (struct tavola_time){ 4000000000, 0 });
    OK(tavola_write(client, table, TAVOLA_INSERT, entity, NULL, &error));
    OK(tavola_get(client, table, TAVOLA_KEY("p", "1"), NULL, &read, &error));
    ck_assert_str_eq(tavola_entity_etag(read), tavola_entity_etag(entity));
    ck_assert_int_eq(tavola_entity_expires(read).seconds, 4000000000);
    before = tavola_entity_to_json(entity);
    after = tavola_entity_to_json(read);
    ck_assert_str_eq(strstr(after, "Active"), strstr(before, "Active")); /* the properties, by name */
    ck_assert_int_eq(tavola_write(client, table, TAVOLA_INSERT, entity, NULL, &error), TAVOLA_ALREADY_EXISTS);
    ck_assert_str_eq(error.reason, "ENTITY_ALREADY_EXISTS");
    tavola_free(before);
    tavola_free(after);
    tavola_entity_free(entity);
    tavola_entity_free(read);
}
END_TEST

START_TEST(a_condition_is_kept)
{
    struct tavola_entity *entity = a_person("1", 1), *read = NULL;
    struct tavola_written written;
    struct tavola_write_options options = { .written = &written };

    ck_assert_int_eq(tavola_write(client, table, TAVOLA_MERGE, entity, NULL, &error), TAVOLA_NOT_FOUND);
    OK(tavola_write(client, table, TAVOLA_INSERT_OR_MERGE, entity, &options, &error));
    ck_assert_str_eq(written.etag, tavola_entity_etag(entity));
    options.if_match = written.etag;
    OK(tavola_write(client, table, TAVOLA_REPLACE, entity, &options, &error));
    options.if_match = "W/\"1\"";
    ck_assert_int_ne(tavola_write(client, table, TAVOLA_REPLACE, entity, &options, &error), TAVOLA_OK);
    options = (struct tavola_write_options){ .condition = "Age eq 2" };
    ck_assert_int_eq(tavola_write(client, table, TAVOLA_REPLACE, entity, &options, &error), TAVOLA_ABORTED);
    ck_assert_str_eq(error.reason, "UPDATE_CONDITION_NOT_SATISFIED");
    ck_assert_int_eq(
        tavola_write(client, table, TAVOLA_INSERT, entity, &options, &error), TAVOLA_INVALID_ARGUMENT);
    OK(tavola_delete(client, table, TAVOLA_KEY("p", "1"), NULL, &error));
    ck_assert_int_eq(tavola_get(client, table, TAVOLA_KEY("p", "1"), NULL, &read, &error), TAVOLA_NOT_FOUND);
    ck_assert_str_eq(error.reason, "RESOURCE_NOT_FOUND");
    ck_assert_ptr_null(read);
    tavola_entity_free(entity);
}
END_TEST

START_TEST(a_request_id_makes_a_repeat_the_same_write)
{
    struct tavola_entity *entity = a_person("1", 1);
    struct tavola_written written;
    const struct tavola_write_options options = { .request_id = "once", .written = &written };

    OK(tavola_write(client, table, TAVOLA_INSERT, entity, &options, &error));
    ck_assert(!written.replayed);
    OK(tavola_write(client, table, TAVOLA_INSERT, entity, &options, &error));
    ck_assert(written.replayed);
    tavola_entity_free(entity);
}
END_TEST

START_TEST(a_batch_takes_effect_as_a_whole)
{
    struct tavola_entity *one = a_person("1", 1), *two = a_person("2", 2), *read[3] = { NULL };
    const struct tavola_key keys[] = { { "p", "1" }, { "p", "none" }, { "p", "2" } };
    struct tavola_batch *batch = tavola_batch_new(table);
    char etags[2][72];

    tavola_batch_add(batch, TAVOLA_INSERT, one, NULL);
    tavola_batch_add(batch, TAVOLA_INSERT, two, NULL);
    OK(tavola_batch_execute(client, batch, NULL, etags, &error));
    OK(tavola_get_many(client, table, keys, 3, read, &error));
    ck_assert_str_eq(tavola_entity_etag(read[0]), etags[0]);
    ck_assert_ptr_null(read[1]);
    ck_assert_str_eq(tavola_entity_etag(read[2]), etags[1]);
    tavola_batch_free(batch);

    batch = tavola_batch_new(table);
    tavola_batch_add(batch, TAVOLA_DELETE, one, etags[0]);
    tavola_batch_add(batch, TAVOLA_INSERT, two, NULL);
    ck_assert_int_eq(tavola_batch_execute(client, batch, NULL, NULL, &error), TAVOLA_ALREADY_EXISTS);
    ck_assert_str_eq(tavola_error_metadata(&error, "operation_index"), "1");
    tavola_batch_free(batch);
    tavola_entity_free(read[0]);
    OK(tavola_get(client, table, keys[0], NULL, &read[0], &error));
    tavola_entity_free(read[0]);
    tavola_entity_free(read[2]);
    tavola_entity_free(one);
    tavola_entity_free(two);
}
END_TEST

/* ---- cursors ---- */

/* The number of entities, which come in the order of their row keys. */
static int count_rows(struct tavola_cursor *cursor)
{
    const struct tavola_entity *entity;
    char last[32] = "";
    int count = 0;

    while (tavola_cursor_next(cursor, &entity, &error)) {
        ck_assert_int_lt(strcmp(last, tavola_entity_key(entity).row), 0);
        snprintf(last, sizeof(last), "%s", tavola_entity_key(entity).row);
        count++;
    }
    OK(error.code);
    ck_assert(!tavola_cursor_next(cursor, &entity, &error));
    tavola_cursor_free(cursor);
    return count;
}

START_TEST(cursors_follow_pages)
{
    static const char *const names[] = { "Name", NULL };
    struct tavola_query query = { .table = table, .page_size = 300 };
    const struct tavola_entity *entity;
    struct tavola_cursor *cursor;
    int64_t count = 0;

    import_people(MANY);
    ck_assert_int_eq(count_rows(tavola_query(client, &query)), MANY);
    ck_assert_int_eq(count_rows(tavola_scan(client, &query)), MANY);
    query.filter = "Age ge 2000";
    ck_assert_int_eq(count_rows(tavola_query(client, &query)), MANY - 2000);
    ck_assert_int_eq(count_rows(tavola_scan(client, &query)), MANY - 2000);
    OK(tavola_count(client, table, NULL, &count, &error));
    ck_assert_int_eq(count, MANY);
    OK(tavola_count(client, table, "Name eq 'Ada'", &count, &error));
    ck_assert_int_eq(count, MANY / 2);
    query.read.select = names;
    cursor = tavola_query(client, &query);
    ck_assert(tavola_cursor_next(cursor, &entity, &error));
    ck_assert_uint_eq(tavola_entity_count(entity), 1);
    tavola_cursor_free(cursor);
}
END_TEST

START_TEST(a_cursor_goes_on_from_a_token)
{
    struct tavola_query query = { .table = table, .page_size = 2 };
    struct tavola_cursor *cursor;
    const struct tavola_entity *entity;
    char token[4200];

    for (int i = 0; i < 5; i++)
        put((char[]){ (char)('a' + i), '\0' }, i);
    cursor = tavola_query(client, &query);
    ck_assert(tavola_cursor_next(cursor, &entity, &error));
    snprintf(token, sizeof(token), "%s", tavola_cursor_token(cursor));
    tavola_cursor_free(cursor);
    query.token = token;
    cursor = tavola_query(client, &query);
    ck_assert(tavola_cursor_next(cursor, &entity, &error));
    ck_assert_str_eq(tavola_entity_key(entity).row, "c");
    tavola_cursor_free(cursor);
}
END_TEST

START_TEST(a_cursor_says_why_it_ends)
{
    const struct tavola_query wrong = { .table = table, .filter = "Age ge" }, none = { .table = "None" };
    struct tavola_cursor *cursors[] = { tavola_query(client, &wrong), tavola_scan(client, &wrong),
        tavola_query(client, &none), tavola_scan(client, &none) };
    const struct tavola_entity *entity;

    for (int i = 0; i < 4; i++) {
        ck_assert(!tavola_cursor_next(cursors[i], &entity, &error));
        ck_assert_int_eq(error.code, i < 2 ? TAVOLA_INVALID_ARGUMENT : TAVOLA_NOT_FOUND);
        tavola_cursor_free(cursors[i]);
    }
    ck_assert_str_eq(error.reason, "TABLE_NOT_FOUND");
}
END_TEST

START_TEST(an_index_finds_what_was_just_written)
{
    static const char *const by[] = { "Name", "Age", NULL };
    const struct tavola_index index = { .name = "ByNameAndAge",
        .table = table,
        .by = by,
        .select = (const char *const[]){ _i == 1 ? NULL : "Age", NULL } };
    struct tavola_entity *entity = a_person("z", 9);
    struct tavola_written written;
    const struct tavola_value ada[] = { TAVOLA_TEXT("Ada") };
    char *reply = NULL;
    struct tavola_lookup lookup = {
        .index = index.name, .equals = ada, .equals_count = 1, .consistency_token = written.consistency_token
    };

    for (int i = 0; i < 6; i++)
        put((char[]){ (char)('a' + i), '\0' }, i);
    OK(tavola_create_index(client, &index, WAIT_MS, &error));
    ck_assert_int_eq(tavola_create_index(client, &index, 0, &error), TAVOLA_ALREADY_EXISTS);
    OK(tavola_write(
        client, table, TAVOLA_INSERT, entity, &(struct tavola_write_options){ .written = &written }, &error));
    lookup.keys_only = _i == 1;
    lookup.page_size = 2;
    lookup.select = (const char *const[]){ "Age", NULL };
    ck_assert_int_eq(count_rows(tavola_lookup(client, &lookup)), 4);
    OK(tavola_call_json(client, "DropIndex", "{\"name\": \"ByNameAndAge\"}", &reply, &error));
    tavola_free(reply);
    tavola_entity_free(entity);
}
END_TEST

START_TEST(a_copy_rule_is_declared)
{
    const struct tavola_copied properties[] = { { "Boss", "Name" }, { "BossAge", "Age" }, { NULL, NULL } };
    const struct tavola_copies copies = { .source_table = table,
        .partition_key = { .literal = "p" },
        .row_key = { .property = "BossKey" },
        .properties = properties,
        .keep = true };
    const struct tavola_index index = { .name = "ByBoss", .table = table, .copies = &copies };
    char *text = NULL;

    OK(tavola_create_index(client, &index, WAIT_MS, &error));
    OK(tavola_call_json(client, "GetIndex", "{\"name\": \"ByBoss\"}", &text, &error));
    ck_assert_ptr_nonnull(strstr(text, "\"sourcePartitionKey\":{\"literal\":\"p\"}"));
    ck_assert_ptr_nonnull(strstr(text, "\"sourceRowKey\":{\"property\":\"BossKey\"}"));
    ck_assert_ptr_nonnull(
        strstr(text, "\"properties\":{\"Boss\":\"Name\",\"BossAge\":\"Age\"},\"keep\":true"));
    tavola_free(text);
    OK(tavola_call_json(client, "DropIndex", "{\"name\": \"ByBoss\"}", &text, &error));
    tavola_free(text);
}
END_TEST

/* ---- transactions, changes, imports, any method ---- */

/* Submit a transaction, wait for its end and free it. */
static enum tavola_transaction_state run_transaction(struct tavola_transaction *transaction)
{
    enum tavola_transaction_state state;

    OK(tavola_transaction_submit(client, transaction, &error));
    OK(tavola_transaction_wait(client, tavola_transaction_id(transaction), WAIT_MS, &state, &error));
    tavola_transaction_free(transaction);
    return state;
}

/* A field of the reply to a method, as text; tavola_free releases it. */
static char *asked(const char *method, const char *request, const char *path)
{
    struct tavola_reply *reply;
    struct tavola_record view;
    char *text;

    OK(tavola_ask(client, &(struct tavola_question){ .method = method, .request = request }, &reply, &error));
    view = tavola_reply_record(reply);
    text = tavola_record_text(&view, path);
    tavola_reply_free(reply);
    return text;
}

static void assert_absent(const char *row)
{
    ck_assert_int_eq(
        tavola_get(client, table, TAVOLA_KEY("p", row), NULL, &(struct tavola_entity *){ NULL }, &error),
        TAVOLA_NOT_FOUND);
}

#define OTHER_ETAG "\"00000000000000000000000000000000\"" /* of no blob */

static const struct tavola_content four_bytes = { .data = "text", .size = 4 };

/* As a step's content, with its delete. */
static struct tavola_content stored_person(void)
{
    return (struct tavola_content){ .table = table, .key = TAVOLA_KEY("p", "1"), .delete_entity = true };
}

START_TEST(steps_write_files_and_put_and_delete_blobs)
{
    struct tavola_transaction *transaction = tavola_transaction_new(NULL);
    const struct tavola_content person = stored_person();
    const struct tavola_blob_target free_name = { "c/1", "text/x-person", NULL, true };
    char *type, *etag;

    put("1", 5);
    tavola_transaction_write_file(transaction, "c/1", &four_bytes, NULL);
    tavola_transaction_append_file(transaction, "c/log", &four_bytes, NULL);
    tavola_transaction_put_blob(transaction, &free_name, &person, NULL);
    ck_assert_int_eq(run_transaction(transaction), TAVOLA_TRANSACTION_DONE);
    assert_absent("1");
    type = asked("StatBlob", "{\"name\": \"c/1\"}", "blob.contentType");
    ck_assert_str_eq(type, "text/x-person");

    transaction = tavola_transaction_new(NULL); /* the name is not free any more */
    tavola_transaction_put_blob(transaction, &free_name, &four_bytes, NULL);
    ck_assert_int_eq(run_transaction(transaction), TAVOLA_TRANSACTION_FAILED);
    transaction = tavola_transaction_new(NULL);
    tavola_transaction_delete_blob(transaction, "c/1", OTHER_ETAG);
    ck_assert_int_eq(run_transaction(transaction), TAVOLA_TRANSACTION_FAILED);
    etag = asked("StatBlob", "{\"name\": \"c/1\"}", "blob.etag");
    transaction = tavola_transaction_new(NULL);
    tavola_transaction_delete_blob(transaction, "c/1", etag);
    ck_assert_int_eq(run_transaction(transaction), TAVOLA_TRANSACTION_DONE);
    ck_assert_int_eq(
        tavola_call_json(client, "StatBlob", "{\"name\": \"c/1\"}", NULL, &error), TAVOLA_NOT_FOUND);
    tavola_free(type);
    tavola_free(etag);
}
END_TEST

/* What arrives is looked at by the scenario. */
START_TEST(steps_call_services_over_http)
{
    struct tavola_transaction *transaction = tavola_transaction_new("c-http-call");
    const char *receiver = getenv("TEST_RECEIVER");
    const struct tavola_content person = stored_person();
    char *timeline;

    ck_assert_msg(receiver != NULL, "TEST_RECEIVER is not set");
    put("1", 5);
    tavola_transaction_http_call(transaction, &(struct tavola_http_request){ .url = receiver }, &person, "*");
    tavola_transaction_http_call(
        transaction, &(struct tavola_http_request){ receiver, "PUT", "text/plain" }, &four_bytes, NULL);
    ck_assert_int_eq(run_transaction(transaction), TAVOLA_TRANSACTION_DONE);
    assert_absent("1");
    timeline = asked("GetTransaction", "{\"transactionId\": \"c-http-call\"}", "transaction.timeline");
    ck_assert_msg(strstr(timeline, "\"httpStatus\":200") != NULL, "%s", timeline);
    tavola_free(timeline);
}
END_TEST

START_TEST(a_transaction_moves_and_puts)
{
    struct tavola_transaction *transaction = tavola_transaction_new(NULL);
    struct tavola_entity *entity = a_person("new", 1), *read = NULL;
    enum tavola_transaction_state state;

    put("old", 5);
    tavola_transaction_move(transaction, table, TAVOLA_KEY("p", "old"), table, TAVOLA_KEY("archive", "old"));
    tavola_transaction_put(transaction, table, entity, false, NULL);
    OK(tavola_transaction_submit(client, transaction, &error));
    OK(tavola_transaction_submit(client, transaction, &error));
    OK(tavola_transaction_wait(client, tavola_transaction_id(transaction), WAIT_MS, &state, &error));
    ck_assert_int_eq(state, TAVOLA_TRANSACTION_DONE);
    OK(tavola_get(client, table, TAVOLA_KEY("archive", "old"), NULL, &read, &error));
    ck_assert_int_eq(tavola_entity_int64(read, "Age", 0), 5);
    ck_assert_int_eq(
        tavola_get(client, table, TAVOLA_KEY("p", "old"), NULL, &(struct tavola_entity *){ NULL }, &error),
        TAVOLA_NOT_FOUND);
    tavola_entity_free(read);
    tavola_entity_free(entity);
    tavola_transaction_free(transaction);
}
END_TEST

static void *stop_watch(void *watch)
{
    tavola_watch_stop(watch);
    return NULL;
}

static void turn_feed_on(void)
{
    char request[160], *reply = NULL;

    snprintf(request, sizeof(request),
        "{\"table\": {\"name\": \"%s\", \"changeFeed\": true}, \"updateMask\": \"changeFeed\"}", table);
    OK(tavola_call_json(client, "UpdateTable", request, &reply, &error));
    tavola_free(reply);
}

static atomic_bool has_seen;

/* The start of a watch is not visible to the caller: write until the watch reports a change. */
static void *write_until_seen(void *context)
{
    for (int i = 0; !has_seen; i++)
        put("live", i);
    return context;
}

START_TEST(a_watch_tells_changes_and_goes_on_from_its_token)
{
    struct tavola_watch_options options = { .table = table };
    struct tavola_watch *watch = tavola_watch(client, &options);
    struct tavola_change change;
    char token[4200];
    pthread_t thread;

    turn_feed_on();
    ck_assert_int_eq(pthread_create(&thread, NULL, write_until_seen, NULL), 0);
    ck_assert_msg(tavola_watch_next(watch, &change, &error), "%s", error.message);
    ck_assert_str_eq(tavola_entity_key(change.entity).row, "live");
    has_seen = true;
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    while (*tavola_watch_token(watch) == '\0')
        ck_assert_msg(tavola_watch_next(watch, &change, &error), "%s", error.message);
    snprintf(token, sizeof(token), "%s", tavola_watch_token(watch));
    tavola_watch_free(watch);

    put("z", 1);
    OK(tavola_delete(client, table, TAVOLA_KEY("p", "z"), NULL, &error));
    options.token = token;
    watch = tavola_watch(client, &options);
    do
        ck_assert_msg(tavola_watch_next(watch, &change, &error), "%s", error.message);
    while (strcmp(tavola_entity_key(change.entity).row, "z") != 0);
    tavola_watch_free(watch);
}
END_TEST

START_TEST(a_watch_is_stopped_by_another_thread)
{
    struct tavola_watch *watch = tavola_watch(client, &(struct tavola_watch_options){ .table = table });
    struct tavola_change change;
    pthread_t thread;

    turn_feed_on();
    ck_assert_int_eq(pthread_create(&thread, NULL, stop_watch, watch), 0);
    ck_assert(!tavola_watch_next(watch, &change, &error));
    ck_assert_int_eq(error.code, TAVOLA_CANCELLED);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    tavola_watch_free(watch);
}
END_TEST

START_TEST(a_watch_of_a_table_without_a_feed_ends)
{
    struct tavola_watch *watch = tavola_watch(client, &(struct tavola_watch_options){ .table = table });
    struct tavola_change change;

    ck_assert(!tavola_watch_next(watch, &change, &error));
    ck_assert_str_eq(error.reason, "CHANGE_FEED_OFF");
    tavola_watch_free(watch);
}
END_TEST

static void note_rejection(
    void *context, int64_t position, struct tavola_key key, const struct tavola_error *why)
{
    int64_t *found = context;

    ck_assert_str_eq(key.row, "bad");
    ck_assert_str_ne(why->reason, "");
    *found = position;
}

/* The library refuses an entity that breaks its rules at once; refusals of the service have a position. */
START_TEST(an_import_tells_what_was_refused)
{
    int64_t position = -1;
    struct tavola_import *import = tavola_import(client,
        &(struct tavola_import_options){ .table = table, .rejected = note_rejection, .context = &position });
    struct tavola_entity *good = a_person("good", 1), *bad = tavola_entity_new(TAVOLA_KEY("p", "b/d"));

    OK(tavola_import_add(import, good, &error));
    ck_assert_int_eq(tavola_import_add(import, bad, &error), TAVOLA_OUT_OF_RANGE);
    OK(tavola_import_add(import, good, &error));
    OK(tavola_import_finish(import, &error));
    ck_assert_int_eq(tavola_import_committed(import), 2);
    tavola_import_free(import);
    tavola_entity_free(good);
    tavola_entity_free(bad);
    import = tavola_import(client, &(struct tavola_import_options){ .table = "None" });
    good = a_person("good", 1);
    OK(tavola_import_add(import, good, &error));
    ck_assert_int_eq(tavola_import_finish(import, &error), TAVOLA_NOT_FOUND);
    ck_assert_str_eq(error.reason, "TABLE_NOT_FOUND");
    ck_assert_int_eq(tavola_import_add(import, good, &error), TAVOLA_NOT_FOUND);
    tavola_import_free(import);
    tavola_entity_free(good);
}
END_TEST

START_TEST(any_method_is_called_with_json)
{
    char *reply = NULL, request[96];

    snprintf(request, sizeof(request), "{\"name\": \"%s\"}", table);
    OK(tavola_call_json(client, "TableService.GetTable", request, &reply, &error));
    ck_assert_ptr_nonnull(strstr(reply, table));
    tavola_free(reply);
    reply = NULL;
    ck_assert_int_eq(
        tavola_call_json(client, "GetTable", "{\"nam\": \"x\"}", &reply, &error), TAVOLA_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "nam"));
    ck_assert_int_eq(tavola_call_json(client, "GetTabel", "{}", &reply, &error), TAVOLA_INVALID_ARGUMENT);
    ck_assert_int_eq(tavola_call_json(client, "ScanEntities", "{}", &reply, &error), TAVOLA_INVALID_ARGUMENT);
    ck_assert_ptr_null(reply);
}
END_TEST

/* ---- asynchronous reads ---- */

static void note_age(void *context, const struct tavola_answer *answer)
{
    int64_t *age = context;

    *age = answer->entity ? tavola_entity_int64(answer->entity, "Age", -1) : -(int64_t)answer->error.code;
}

START_TEST(reads_run_at_once)
{
    int64_t ages[10];
    char row[8];

    for (int i = 0; i < 9; i++) {
        snprintf(row, sizeof(row), "%d", i);
        put(row, i);
    }
    for (int i = 0; i < 10; i++) {
        snprintf(row, sizeof(row), "%d", i);
        tavola_get_async(
            client, table, TAVOLA_KEY("p", row), NULL, (struct tavola_done){ note_age, &ages[i] });
    }
    tavola_drain(client);
    for (int i = 0; i < 9; i++)
        ck_assert_int_eq(ages[i], i);
    ck_assert_int_eq(ages[9], -TAVOLA_NOT_FOUND);
}
END_TEST

Suite *test_service_suite(void);

Suite *test_service_suite(void)
{
    Suite *suite = suite_create("client service");
    TCase *tc = tcase_create("service");

    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, an_entity_goes_round_with_every_type);
    tcase_add_test(tc, a_condition_is_kept);
    tcase_add_test(tc, a_request_id_makes_a_repeat_the_same_write);
    tcase_add_test(tc, a_batch_takes_effect_as_a_whole);
    tcase_add_test(tc, cursors_follow_pages);
    tcase_add_test(tc, a_cursor_goes_on_from_a_token);
    tcase_add_test(tc, a_cursor_says_why_it_ends);
    tcase_add_loop_test(tc, an_index_finds_what_was_just_written, 0, 2);
    tcase_add_test(tc, a_copy_rule_is_declared);
    tcase_add_test(tc, a_transaction_moves_and_puts);
    tcase_add_test(tc, steps_write_files_and_put_and_delete_blobs);
    tcase_add_test(tc, steps_call_services_over_http);
    tcase_add_test(tc, a_watch_tells_changes_and_goes_on_from_its_token);
    tcase_add_test(tc, a_watch_is_stopped_by_another_thread);
    tcase_add_test(tc, a_watch_of_a_table_without_a_feed_ends);
    tcase_add_test(tc, an_import_tells_what_was_refused);
    tcase_add_test(tc, any_method_is_called_with_json);
    tcase_add_test(tc, reads_run_at_once);
    suite_add_tcase(suite, tc);
    return suite;
}
