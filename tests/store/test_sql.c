/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sql.c - the SQL statements: each has a comment, all can be prepared against the newest schema, and the hot
 * ones use the primary key with any number of rows.
 */
#include <check.h>
#include <stdio.h>

#include "store/session/session.h"
#include "store/sql.h"
#include "tests/support/postgres_server.h"

static const char *conninfo;
static struct session session; /* with the settings of the program, and all its statements */

/* The programs prepare a statement when they first send it. */
static void prepare(const struct embedded *sql)
{
    PGresult *result = PQprepare(session.pg.conn, sql->name, sql->text, 0, NULL);

    ck_assert_msg(
        PQresultStatus(result) == PGRES_COMMAND_OK, "%s: %s", sql->name, PQresultErrorMessage(result));
    PQclear(result);
}

static void open_session(PGconn *sql)
{
    struct error err = { 0 };

    test_sql(sql, "vacuum analyze");
    PQfinish(sql);
    session_init(&session, conninfo, "test");
    ck_assert_msg(session_ensure(&session, &err) == STATUS_OK, "%s", err.message);
    ck_assert(PQexitPipelineMode(session.pg.conn));
    PQclear(PQexec(session.pg.conn, "deallocate all"));
    for (size_t i = 0; i < sql_count; i++)
        prepare(sql_all[i]);
}

/* Plans are kept while tables grow, so they are made here with empty tables, which is the worst case. */
static void setup_empty(void)
{
    conninfo = test_database();
    open_session(test_connect(conninfo));
}

static void setup(void)
{
    PGconn *sql;

    conninfo = test_database();
    sql = test_connect(conninfo);
    test_sql(sql, "insert into entities select n %% 1024, n %% 5, 'p' || n %% 20, 'r' || n, 1, 1, n %% 7 = "
                  "0, null, 'x' "
                  "from generate_series(1, 20000) n");
    test_sql(sql, "insert into commit_markers select 0, n %% 10, n from generate_series(1, 2000) n");
    test_sql(sql, "insert into requests select n %% 1024, 'acme', 'id ' || n, '', 'x' from "
                  "generate_series(1, 5000) n");
    test_sql(sql, "insert into intents select n %% 1024, gen_random_uuid(), 1, n %% 5, 'p', 'r' || n, 1 from "
                  "generate_series(1, 5000) n");
    test_sql(sql, "insert into index_state select n %% 1024, n %% 5, 'p', 'r' || n, 1, '' from "
                  "generate_series(1, 5000) n");
    open_session(sql);
}

static void teardown(void)
{
    session_cleanup(&session);
    test_database_end(conninfo);
}

START_TEST(every_statement_says_what_it_is_for)
{
    for (size_t i = 0; i < sql_count; i++)
        ck_assert_msg(
            strncmp(sql_all[i]->text, "-- ", 3) == 0, "%s.sql has no comment on top", sql_all[i]->name);
}
END_TEST

START_TEST(all_statements_are_prepared)
{
    ck_assert_int_eq(
        test_number(session.pg.conn, "select count(*) from pg_prepared_statements"), (long long)sql_count);
}
END_TEST

/* The generic plan of a prepared statement, as one text. */
static struct str explain(const char *statement)
{
    long long count = test_number(session.pg.conn,
        "select coalesce(array_length(parameter_types, 1), 0) from pg_prepared_statements where name = '%s'",
        statement);
    struct str nulls = STR_EMPTY;
    PGresult *plan;
    struct buf out;

    for (long long i = 0; i < count; i++)
        nulls = arena_format(&session.arena, "%.*s%snull", STR_ARG(nulls), i ? ", " : "");
    plan = PQexec(
        session.pg.conn, arena_format(&session.arena,
                             count ? "explain (costs off) execute %s(%s)" : "explain (costs off) execute %s",
                             statement, nulls.data)
                             .data);
    ck_assert_msg(PQresultStatus(plan) == PGRES_TUPLES_OK, "%s: %s", statement, PQresultErrorMessage(plan));
    buf_init(&out, &session.arena);
    for (int i = 0; i < PQntuples(plan); i++)
        buf_format(&out, "%s\n", PQgetvalue(plan, i, 0));
    buf_append_byte(&out, 0);
    PQclear(plan);
    return buf_str(&out);
}

static const struct plan_case {
    const char *statement;
    const char *index;     /* the expected scan; NULL: the statement only inserts */
    const char *condition; /* must be part of the index's condition; NULL: any */
} plan_cases[] = {
    { "entity_get", "entities_pkey", "row_key = " },
    { "entity_lock", NULL, NULL },
    { "entity_locked", "entities_pkey", "row_key = " },
    { "entity_hold", "entities_pkey", "row_key = " },
    { "entity_update", "Tid Scan on entities", "ctid = u.ctid" },
    { "entity_remove", "entities_pkey", "row_key = " },
    { "entity_upsert_blind", NULL, NULL },
    { "entity_upsert_one", NULL, NULL },
    { "entity_upsert_change", NULL, NULL },
    { "entity_page", "entities_pkey", "ROW(partition_key, row_key) < ROW($4, $5)" },
    { "entity_page", "entities_pkey", "ROW(partition_key, row_key) >= ROW($2, $3)" },
    { "entity_page_down", "entities_pkey", "ROW(partition_key, row_key) < ROW($4, $5)" },
    { "entity_page_partition", "entities_pkey", "(row_key < $5)" },
    { "entity_page_partition", "entities_pkey", "(row_key >= $4)" },
    { "request_get", "requests_pkey", "request_id = " },
    { "request_insert", NULL, NULL },
    { "entity_page_partition_down", "entities_pkey", "(row_key < $5)" },
    { "entity_page_points", "entities_pkey", "row_key = " },
    { "entity_page_ranges", "entities_pkey", "(row_key < u.high)" },
    { "entity_page_ranges", "entities_pkey", "(row_key >= u.low)" },
    { "entity_page_ranges_down", "entities_pkey", "(row_key < u.high)" },
    { "short_ranges", "entities_pkey", "(row_key >= u.low)" },
    { "short_ranges", "intents_key", "(table_id = b.t)" },
    { "short_ranges_down", "entities_pkey", "(row_key >= u.low)" },
    { "short_hits", "entities_pkey", "(row_key >= u.low)" },
    { "short_hits", "entities_pkey", "(row_key = convert_from(" },
    { "short_hits", "intents_key", "(table_id = b.t)" },
    { "short_hits", "dead_letters_pkey", "(kind = 1)" },
    { "short_hits_down", "entities_pkey", "(row_key = convert_from(" },
    { "entity_count", "entities_pkey", "ROW(partition_key, row_key) < ROW($4, $5)" },
    { "entity_count_partition", "entities_pkey", "(row_key < $5)" },
    { "marker_delete", "commit_markers_pkey", "(number >= $3)" },
    { "marker_delete", "commit_markers_pkey", "(number < $2)" },
    { "marker_resolved", "commit_markers_pkey", "number = $2" },
    { "intent_insert", NULL, NULL },
    { "intent_insert_traced", NULL, NULL },
    { "intent_delete", "intents_pkey", "bucket = " },
    { "intent_of_keys", "intents_key", "row_key = " },
    { "intent_take", "intents_key", "row_key = " },
    { "intent_take_traced", "intents_key", "row_key = " },
    { "intent_take_at", "Tid Scan on intents", "ctid = u.ctid" },
    { "entry_insert", NULL, NULL },
    { "source_get", "entities_pkey", "row_key = " },
    { "source_get_at", "Tid Scan on entities", "ctid = (unnest(" },
    { "state_get", "index_state_pkey", "row_key = " },
    { "state_hold", "index_state_pkey", "row_key = " },
    { "state_lock_or_create", "index_state_pkey", "row_key = " },
    { "state_update", "Tid Scan on index_state", "ctid = u.ctid" },
    { "state_delete", "index_state_pkey", "row_key = " },
    { "entry_get", "entities_pkey", "row_key = " },
    { "entity_written", "entities_pkey", "row_key = " },
    { "dead_letter_of_keys", "dead_letters_pkey", "row_key = " },
    { "gauge_dead_letters", "dead_letters_counts", "(discarded = " },
    { "backlog_of_all", "dead_letters_counts", "(discarded = " },
    { "open_sources", "dead_letters_whole_keys", "(table_id = " },
    { "open_source_counts", "dead_letters_whole_keys", "(table_id = " },
    { "behind_chunk", "dead_letters_whole_keys", "(table_id = " },
    { "intent_scan", "intents_pkey", "(id > \"*VALUES*\".column1)" },
    { "retries_due", "dead_letters_retries", "(next_try <= now())" },
    { "retries_due", "dead_letters_retries", "(next_try >= " },
    { "retries_due", "intents_key", "row_key = " },
    { "intent_oldest", "intents_pkey", "bucket = " },
    { "intent_oldest", "intents_transactions", "bucket = " },
    { "walk_rows", "entities_pkey", "ROW(partition_key, row_key) >= ROW($2, $3)" },
    { "validate_sources", "entities_pkey", "row_key = " },
    { "validate_sources", "index_state_pkey", "row_key = " },
    { "validate_sources", "intents_key", "row_key = " },
    { "due_keys", "entities_expires", "expires <= " },
    { "chunk_move_page", "blob_chunks_pkey", "ROW(account, digest) > ROW($1, $2)" },
    { "visit_begin", "intents_key", "row_key = " },
    { "visit_begin", "copy_visits_pkey", "row_key = " },
    { "visit_lock", "copy_visits_pkey", "row_key = " },
    { "visit_entries", "entities_pkey", "row_key > " },
    { "visit_advance", "copy_visits_pkey", "row_key = " },
    { "visit_end", "copy_visits_pkey", "row_key = " },
    { "visit_end", "intents_pkey", "bucket = " },
    { "visit_forget", "intents_key", "row_key = " },
    { "visit_letter_delete", "dead_letters_pkey", "row_key = " },
    { "copy_letter_delete", "dead_letters_pkey", "row_key = " },
    { "intent_lock", "intents_key", "row_key = " },
    { "copies_open", "intents_key", "row_key = " },
    { "copies_open", "dead_letters_pkey", "row_key = " },
    { "copies_open", "copy_visits_pkey", "row_key = " },
};

/* One of the index scans of the plan has the condition. */
static bool goes_by(const char *plan, const struct plan_case *c)
{
    for (const char *scan = strstr(plan, c->index); scan; scan = strstr(scan + 1, c->index)) {
        const char *condition = strstr(scan, " Cond:");
        const char *wanted = condition && c->condition ? strstr(condition, c->condition) : condition;

        if (wanted && wanted < condition + strcspn(condition, "\n"))
            return true;
    }
    return false;
}

static void check_plan(const struct plan_case *c)
{
    static const char *const banned[] = { "Seq Scan", "Hash Join", "Merge Join", "Materialize", "hashed" };
    const char *plan = explain(c->statement).data;

    for (size_t i = 0; i < ARRAY_LEN(banned); i++) {
        const char *at = strstr(plan, banned[i]);

        /* The catalogue is one row. */
        ck_assert_msg(!at || strstr(at, "Seq Scan on catalogue") == at, "%s:\n%s", c->statement, plan);
    }
    if (!c->index)
        return;
    ck_assert_msg(goes_by(plan, c), "%s does not go by %s, %s:\n%s", c->statement, c->index,
        c->condition ? c->condition : "any condition", plan);
}

START_TEST(hot_statements_search_by_the_key)
{
    for (size_t i = 0; i < ARRAY_LEN(plan_cases); i++)
        check_plan(&plan_cases[i]);
}
END_TEST

START_TEST(pages_need_no_sort)
{
    static const char *const statements[] = { "entity_page", "entity_page_partition", "entity_page_down",
        "entity_page_partition_down", "entity_count", "entity_count_partition", "chunk_keys", "walk_rows",
        "short_ranges", "short_ranges_down", "short_hits", "short_hits_down", "chunk_move_page" };

    for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
        const char *plan = explain(statements[i]).data;

        ck_assert_msg(!strstr(plan, "Sort"), "%s", plan);
    }
}
END_TEST

/*
 * ANALYZE takes as large a sample as the column with the largest statistics target asks for (migration 0053). A new
 * table stands in this list if its rows do not grow in number with the data of callers.
 */
static const char sql_large_samples[] =
    "select coalesce(string_agg(format('%s.%s', attrelid::regclass, attname), ', '), '') from pg_attribute "
    "join pg_class c on c.oid = attrelid "
    "where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0 and not attisdropped "
    "and attstattarget <> 10 and relname <> all ('{account_usage,accounts,apply_rates,catalogue,"
    "catalogue_changes,feeds,index_reports,index_scrubs,indexes,leases,operations,queue_controls,queue_map,"
    "schema_migrations,secrets,service_properties,tables,usage_counts,watermarks,workers,write_fence}')";

START_TEST(tables_that_grow_are_analysed_by_small_samples)
{
    PGconn *sql = test_connect(conninfo);

    ck_assert_str_eq(test_text(sql, "%s", sql_large_samples), "");
    PQfinish(sql);
}
END_TEST

Suite *test_sql_suite(void)
{
    Suite *suite = suite_create("sql");
    TCase *tc = tcase_create("sql");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, every_statement_says_what_it_is_for);
    tcase_add_test(tc, all_statements_are_prepared);
    tcase_add_test(tc, hot_statements_search_by_the_key);
    tcase_add_test(tc, pages_need_no_sort);
    tcase_add_test(tc, tables_that_grow_are_analysed_by_small_samples);
    suite_add_tcase(suite, tc);
    tc = tcase_create("sql while tables are empty");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup_empty, teardown);
    tcase_add_test(tc, hot_statements_search_by_the_key);
    suite_add_tcase(suite, tc);
    return suite;
}
