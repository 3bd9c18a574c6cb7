/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_rows.c - see the header.
 */
#include "store/indexes/index_rows.h"

#include "domain/indexes/index_plan.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"
#include "store/session/catalogue_change.h"
#include "store/sql.h"

/*
 * An index has the id of the table of its entries; both come from the sequence of tables, and so do
 * the ids of builds.
 */
enum status index_rows_send_create(struct session *session, const struct index *index, struct str folded,
    const struct job_start *build, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, index->index_id);
    pg_add_int8(&params, index->source_table_id);
    pg_add_bytes(&params, index->account);
    pg_add_bytes(&params, index->name);
    pg_add_bytes(&params, folded);
    pg_add_bytes(&params, index->definition);
    pg_add_bytes(&params, build->operation_id);
    pg_add_int8(&params, build->started);
    pg_add_int8(&params, index->replaces);
    pg_add_int8(&params, build->started - LIMIT_CLOCK_SKEW_S * TICKS_PER_SECOND);
    TRY(pg_send(&session->pg, &sql_index_insert, &params, err));
    TRY(catalogue_change_send_table_made(session, index->index_id, err));
    return job_calls_send_start(session, build, err);
}

static enum status ask_distributed(struct session *session, bool *out, struct error *err)
{
    PG_RESULT distributed = NULL;

    TRY(pg_query(&session->pg, &sql_database_is_distributed, NULL, &distributed, err));
    *out = pg_bool(distributed, 0, PG_ONLY_COLUMN);
    return STATUS_OK;
}

enum status index_rows_choose_versions(struct session *session, struct index *index, struct error *err)
{
    PG_RESULT may_keep = NULL;

    index->keeps_versions = false;
    if (!index_plan_may_keep_versions(index))
        return STATUS_OK;
    TRY(pg_query(&session->pg, &sql_database_may_keep_versions, NULL, &may_keep, err));
    index->keeps_versions = pg_bool(may_keep, 0, PG_ONLY_COLUMN);
    return STATUS_OK;
}

/*
 * If the database is distributed over several nodes, a write and its entries in other partitions
 * cannot be committed on one node.
 */
enum status index_rows_check_may_be_strong(struct session *session, const char *field, struct error *err)
{
    bool is_distributed;

    TRY(ask_distributed(session, &is_distributed, err));
    if (!is_distributed)
        return STATUS_OK;
    reason_set(err, REASON_DATABASE_DISTRIBUTED,
        "consistency STRONG of an index in other partitions needs a database that is one PostgreSQL, and "
        "this one has the extension citus; allowed are EVENTUAL, and STRONG in the same partition");
    return error_in_field(err, field);
}

enum status index_rows_check_wide(
    struct session *session, const struct table *table, const struct index *index, struct error *err)
{
    PG_RESULT may_have = NULL;

    if (!table->is_wide)
        return STATUS_OK;
    if (index_plan_may_keep_versions(index)) {
        reason_set(err, REASON_INVALID_INPUT,
            "table %.*s has wide entities, which an entry cannot hold as a whole: index.projection names the "
            "properties that entries are to have, or is keys_only",
            STR_ARG(table->name));
        return error_in_field(err, "index.projection");
    }
    TRY(pg_query(&session->pg, &sql_database_knows_parts, NULL, &may_have, err));
    if (pg_bool(may_have, 0, PG_ONLY_COLUMN))
        return STATUS_OK;
    reason_set(err, REASON_NOT_IMPLEMENTED,
        "an index of wide entities needs a database that accepts no older program: after an upgrade, tavola "
        "migrate --refuse-older ends it");
    return error_in_field(err, "index.table");
}

enum status index_rows_send_retire(
    struct session *session, const struct index *index, int64_t now, struct job_start *out, struct error *err)
{
    struct pg_params params;
    struct job_start begin = {
        .operation_id = job_calls_id("drop", index->index_id, &session->arena),
        .account = index->account,
        .kind = "drop_index",
        .target = index->name,
        .table_id = index->source_table_id,
        .index_id = index->index_id,
        .started = now,
    };
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, index->index_id);
    TRY(pg_send(&session->pg, &sql_index_retire, &params, err));

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, index->operation_id);
    pg_add_int8(&params, now);
    TRY(pg_send(&session->pg, &sql_job_cancel, &params, err));
    if (out)
        *out = begin;
    return job_calls_send_start(session, &begin, err);
}
