/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_calls.c - see the header.
 */
#include "store/sampling/advice_calls.h"

#include "domain/indexes/index_advice.h"
#include "domain/reason.h"
#include "store/sampling/sample_calls.h"
#include "store/session/attempt.h"
#include "store/session/resolve.h"

static enum status check_sampled(const struct table *table, struct error *err)
{
    if (table->samples_queries)
        return STATUS_OK;
    reason_set(err, REASON_QUERY_SAMPLING_OFF,
        "table %.*s does not keep the shapes of its queries: set sample_queries with UpdateTable, or "
        "\"tavola table set %.*s --sample-queries on\"",
        STR_ARG(table->name), STR_ARG(table->name));
    error_add_meta(err, "table", table->name);
    return STATUS_PRECONDITION;
}

static void merge_rows(const PGresult *rows, struct shape_sketch *sum, int64_t *span_us)
{
    for (int i = PQntuples(rows) - 1; i >= 0; i--) {
        struct shape_sketch sketch;
        struct arena scratch;

        arena_init(&scratch);
        if (shape_sketch_read(pg_bytes(rows, i, SAMPLE_CONTENT), &scratch, &sketch))
            shape_sketch_merge(sum, &sketch);
        arena_cleanup(&scratch);
        if (pg_int8(rows, i, SAMPLE_AGE_US) > *span_us)
            *span_us = pg_int8(rows, i, SAMPLE_AGE_US);
    }
}

static enum status advise(struct session *session, struct operation *operation, struct error *err)
{
    struct index_advices *advices = ARENA_NEW(operation->arena, struct index_advices);
    struct shape_sketch *sum = ARENA_NEW(operation->arena, struct shape_sketch);
    const struct table *table;
    PG_RESULT rows = NULL;
    int64_t span_us = 0;

    TRY(session_refresh(session, NULL, err));
    TRY(resolve_table(session, operation, &table, err));
    TRY(check_sampled(table, err));
    TRY(sample_calls_send(session, &operation->in.samples, err));
    TRY(sample_calls_read(session, SAMPLE_WEEK, table->table_id, &rows, err));
    merge_rows(rows, sum, &span_us);
    *advices = index_advice_make(session->catalogue, table, sum, operation->arena);
    operation->out.samples = (struct outcome_samples){
        .advices = advices, .queries = sum->queries, .writes = sum->writes, .span_us = span_us
    };
    return STATUS_OK;
}

void advice_calls_make(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, advise);
}
