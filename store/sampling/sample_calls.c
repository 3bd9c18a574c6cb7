/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_calls.c - see the header. Samples of a deleted table are not listed: no table has their
 * table id any more.
 */
#include "store/sampling/sample_calls.h"

#include "domain/account_id.h"
#include "domain/operations/operation_times.h"
#include "domain/reason.h"
#include "domain/sampling/sample_form.h"
#include "store/session/attempt.h"
#include "store/sql.h"

enum {
    MAX_ROWS = 8192, /* samples that one call merges */
    MERGED_KEYS = 64 /* hot keys of one table */
};

static enum status forget_old(struct session *session, struct error *err)
{
    PG_RESULT result = NULL;

    return pg_query(&session->pg, &sql_samples_forget, NULL, &result, err);
}

enum status sample_calls_send(struct session *session, const struct operation_samples *in, struct error *err)
{
    struct pg_array tables, spans, periods, seconds, contents;
    struct pg_params params;
    PG_RESULT result = NULL;

    if (in->report_count == 0)
        return STATUS_OK;
    pg_array_init(&tables, &session->arena, PG_INT8);
    pg_array_init(&spans, &session->arena, PG_INT2);
    pg_array_init(&periods, &session->arena, PG_INT8);
    pg_array_init(&seconds, &session->arena, PG_INT8);
    pg_array_init(&contents, &session->arena, PG_BYTEA);
    for (size_t i = 0; i < in->report_count; i++) {
        const struct sample_report *report = &in->reports[i];

        pg_array_int8(&tables, report->table_id);
        pg_array_int2(&spans, (int16_t)report->span);
        pg_array_int8(&periods, report->period);
        pg_array_int8(&seconds, report->seconds);
        pg_array_bytes(&contents, report->content);
    }
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, in->server);
    pg_add_array(&params, &tables);
    pg_add_array(&params, &spans);
    pg_add_array(&params, &periods);
    pg_add_array(&params, &seconds);
    pg_add_array(&params, &contents);
    return pg_query(&session->pg, &sql_samples_put, &params, &result, err);
}

static enum status store(struct session *session, struct operation *operation, struct error *err)
{
    TRY(session_ensure(session, err));
    TRY(sample_calls_send(session, &operation->in.samples, err));
    return forget_old(session, err);
}

void sample_calls_store(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, store);
}

/* ---- reading ---- */

enum status sample_calls_read(
    struct session *session, enum sample_span span, int64_t table_id, PGresult **out, struct error *err)
{
    static const int64_t seconds[] = {
        [SAMPLE_MINUTE] = 60, [SAMPLE_HOUR] = 3600, [SAMPLE_WEEK] = 7 * 24 * 3600
    };
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int2(&params, (int16_t)span);
    pg_add_int8(&params, seconds[span]);
    pg_add_int8(&params, table_id);
    pg_add_int8(&params, MAX_ROWS);
    return pg_query(&session->pg, &sql_samples_get, &params, out, err);
}

struct merged {
    struct hot_table *tables;
    int64_t *ids; /* of the tables */
    size_t count;
    int64_t span_us;
};

/* The id of the requested table; 0: all tables. */
static enum status wanted_table(
    struct session *session, const struct operation *operation, int64_t *out, struct error *err)
{
    const struct operation_samples *in = &operation->in.samples;
    const struct table *table;

    *out = 0;
    TRY(session_confirm(session, operation_times_arrived_us(operation), err));
    if (in->table.len == 0)
        return STATUS_OK;
    table = catalogue_find(session->catalogue, in->account, in->table);
    if (!table) {
        reason_set(err, REASON_TABLE_NOT_FOUND, "table %.*s does not exist in the account %.*s",
            STR_ARG(in->table), STR_ARG(account_id_name(in->account)));
        error_add_meta(err, "table", in->table);
        return STATUS_NOT_FOUND;
    }
    *out = table->table_id;
    return STATUS_OK;
}

/*
 * The slot of a table, which is made for its first sample. NULL: the table does not exist any more,
 * or belongs to another account.
 */
static struct hot_table *slot_of(
    const struct session *session, struct operation *operation, struct merged *merged, int64_t table_id)
{
    const struct table *table = catalogue_find_id(session->catalogue, table_id);
    struct arena *arena = operation->arena;
    struct str account = operation->in.samples.account;
    struct hot_table *slot;

    if (!table || (account.len > 0 && !str_equal(account, table->account)))
        return NULL;
    for (size_t i = 0; i < merged->count; i++)
        if (merged->ids[i] == table_id)
            return &merged->tables[i];
    merged->ids[merged->count] = table_id;
    slot = &merged->tables[merged->count++];
    *slot = (struct hot_table){ .account = arena_copy(arena, table->account),
        .name = arena_copy(arena, table->name),
        .is_index = table->entries_of != NULL };
    key_sketch_init(&slot->sketch, ARENA_ARRAY(arena, struct key_counter, MERGED_KEYS), MERGED_KEYS);
    return slot;
}

static void merge_rows(
    const struct session *session, struct operation *operation, const PGresult *rows, struct merged *out)
{
    int count = PQntuples(rows);

    out->tables = ARENA_ARRAY(operation->arena, struct hot_table, (size_t)count);
    out->ids = ARENA_ARRAY(operation->arena, int64_t, (size_t)count);
    /* the oldest sample first, so that the newest written key remains */
    for (int i = count - 1; i >= 0; i--) {
        struct hot_table *slot = slot_of(session, operation, out, pg_int8(rows, i, SAMPLE_TABLE));
        struct arena scratch;
        struct key_sketch sketch;

        if (!slot)
            continue;
        if (pg_int8(rows, i, SAMPLE_AGE_US) > out->span_us)
            out->span_us = pg_int8(rows, i, SAMPLE_AGE_US);
        arena_init(&scratch);
        if (sample_form_read(pg_bytes(rows, i, SAMPLE_CONTENT), &scratch, &sketch))
            key_sketch_merge(&slot->sketch, &sketch);
        arena_cleanup(&scratch);
    }
}

static enum status list_hot(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_samples *in = &operation->in.samples;
    struct outcome_samples *out = &operation->out.samples;
    struct merged merged = { 0 };
    PG_RESULT rows = NULL;
    int64_t table_id;

    TRY(session_ensure(session, err));
    TRY(sample_calls_send(session, in, err));
    TRY(wanted_table(session, operation, &table_id, err));
    TRY(sample_calls_read(session, in->span, table_id, &rows, err));
    merge_rows(session, operation, rows, &merged);
    *out = (struct outcome_samples){ .span_us = merged.span_us };
    hot_list_make(
        merged.tables, merged.count, (size_t)in->limit, operation->arena, &out->partitions, &out->count);
    return STATUS_OK;
}

void sample_calls_list_hot(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, list_hot);
}
