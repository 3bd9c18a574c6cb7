/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_calls.c - see the header.
 */
#include "store/catalogue/table_calls.h"

#include <assert.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/catalogue/table_name.h"
#include "domain/copies/copy_declaration.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"
#include "store/session/attempt.h"
#include "store/session/catalogue_change.h"
#include "store/session/resolve.h"
#include "store/sql.h"

static struct table_view view_of(const struct table *table, struct arena *arena)
{
    struct table_view view = {
        .name = arena_copy(arena, table->name),
        .created = table->created,
        .index = table->entries_of ? arena_copy(arena, table->entries_of->name) : STR_EMPTY,
        .default_max_plan = table->default_max_plan,
        .change_feed = table->feed_id != 0,
        .samples_queries = table->samples_queries,
        .periods = table->periods,
        .blob_properties = table->has_blob_properties,
        .is_wide = table->is_wide,
    };
    bool copied =
        access_policies_decode(access_policies_encode(&table->policies, arena), arena, &view.policies);

    assert(copied && "what was encoded can be decoded");
    (void)copied;
    return view;
}

static void answer_one(struct operation *operation, struct table_view view)
{
    operation->out.tables = (struct outcome_tables){ .count = 1 };
    operation->out.tables.tables = ARENA_NEW(operation->arena, struct table_view);
    operation->out.tables.tables[0] = view;
}

/* ---- blob properties ---- */

static enum status refuse_older(struct error *err)
{
    return reason_set(err, REASON_BLOB_PROPERTIES_REFUSED,
        "blob_properties need a database that is not distributed over nodes and refuses older programs: see "
        "tavola migrate --refuse-older");
}

static enum status admit_blob_properties(struct session *session, struct error *err)
{
    PG_RESULT may = NULL;

    TRY(pg_query(&session->pg, &sql_database_may_hold_blobs, NULL, &may, err));
    if (pg_bool(may, 0, PG_ONLY_COLUMN))
        return STATUS_OK;
    return refuse_older(err);
}

static enum status check_holds_none(struct session *session, const struct table *table, struct error *err)
{
    struct pg_params params;
    PG_RESULT holds = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, table->table_id);
    TRY(pg_query(&session->pg, &sql_table_holds_blobs, &params, &holds, err));
    if (!pg_bool(holds, 0, PG_ONLY_COLUMN))
        return STATUS_OK;
    (void)reason_set(err, REASON_BLOB_PROPERTIES_REFUSED,
        "entities of table %.*s hold blobs, so its blob_properties stay", STR_ARG(table->name));
    error_add_meta(err, "table", table->name);
    return err->status;
}

/* Inside a change of the catalogue: no writer is under way. */
static enum status switch_blob_properties(
    struct session *session, const struct table *table, bool on, struct error *err)
{
    struct pg_params params;

    TRY(on ? admit_blob_properties(session, err) : check_holds_none(session, table, err));
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, table->table_id);
    pg_add_bool(&params, on);
    return pg_send(&session->pg, &sql_blob_properties_switch, &params, err);
}

/* ---- wide entities ---- */

/* What a table with wide entities cannot have, or only if no program may run that would make changes without parts. */
static enum status check_beside_wide(
    struct session *session, const struct table_change *change, struct error *err)
{
    PG_RESULT knows_contents = NULL;
    PG_RESULT knows_parts = NULL;

    if (change->blob_properties) {
        TRY(pg_query(&session->pg, &sql_database_may_be_wide_with_blobs, NULL, &knows_contents, err));
        if (!pg_bool(knows_contents, 0, PG_ONLY_COLUMN))
            return refuse_older(err);
    }
    if (!change->change_feed)
        return STATUS_OK;
    TRY(pg_query(&session->pg, &sql_database_knows_parts, NULL, &knows_parts, err));
    if (pg_bool(knows_parts, 0, PG_ONLY_COLUMN))
        return STATUS_OK;
    reason_set(err, REASON_NOT_IMPLEMENTED,
        "a change_feed of wide entities needs a database that accepts no older program: after an upgrade, "
        "tavola migrate --refuse-older ends it");
    return error_in_field(err, "change_feed");
}

/* Programs that do not know parts would read and write wide entities wrongly. */
static enum status check_wide(struct session *session, const struct operation *operation, struct error *err)
{
    const struct table_change *change = &operation->in.tables.change;
    PG_RESULT may_be = NULL;

    if (!change->is_wide)
        return STATUS_OK;
    TRY(check_beside_wide(session, change, err));
    TRY(pg_query(&session->pg, &sql_database_may_be_wide, NULL, &may_be, err));
    if (pg_bool(may_be, 0, PG_ONLY_COLUMN))
        return STATUS_OK;
    reason_set(err, REASON_NOT_IMPLEMENTED,
        "wide entities need a database that is on one node and accepts no older program: after an upgrade, "
        "tavola migrate --refuse-older ends it");
    return error_in_field(err, "wide_entities");
}

/* ---- create ---- */

static enum status send_create(
    struct session *session, const struct operation *operation, int64_t created, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    pg_add_bytes(&params, operation->table);
    pg_add_bytes(&params, table_name_fold(operation->table, &session->arena));
    pg_add_int8(&params, created);
    pg_add_bool(&params, operation->in.tables.change.change_feed);
    pg_add_int8(&params, created - LIMIT_CLOCK_SKEW_S * TICKS_PER_SECOND);
    pg_add_bool(&params, operation->in.tables.change.blob_properties);
    pg_add_bool(&params, operation->in.tables.change.is_wide);
    TRY(session_send_begin(session, err));
    TRY(pg_send(&session->pg, &sql_table_create, &params, err));
    return pg_sync(&session->pg, err);
}

/* No fence is needed: no write can have been planned for a table that did not exist. */
static enum status create(struct session *session, struct operation *operation, struct error *err)
{
    int64_t created = clock_ticks(), now_us;
    PG_RESULT row = NULL;
    enum status status;

    if (operation->in.tables.change.blob_properties)
        TRY(admit_blob_properties(session, err));
    TRY(check_wide(session, operation, err));
    TRY(send_create(session, operation, created, err));
    status = session_take_begin(session, &now_us, err);
    if (status != STATUS_OK && status != STATUS_STALE)
        return status; /* STATUS_STALE is harmless: nothing was planned with the catalogue */
    TRY(pg_next(&session->pg, &row, err));
    TRY(pg_end(&session->pg, err));
    if (PQntuples(row) == 0) {
        reason_set(err, REASON_TABLE_ALREADY_EXISTS, "table %.*s already exists", STR_ARG(operation->table));
        error_add_meta(err, "table", operation->table);
        return STATUS_EXISTS;
    }
    TRY(catalogue_change_send_table_made(session, pg_int8(row, 0, PG_ONLY_COLUMN), err));
    TRY(catalogue_load_send_bump(&session->pg, pg_int8(row, 0, PG_ONLY_COLUMN), err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_end(&session->pg, err)); /* the catalogue's row is locked */
    TRY(catalogue_change_admit_table(session, operation->account, err));
    FAILPOINT_TRY("table.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("table.after_commit");
    answer_one(operation, (struct table_view){ .name = operation->table,
                              .created = created,
                              .index = STR_EMPTY,
                              .change_feed = operation->in.tables.change.change_feed,
                              .blob_properties = operation->in.tables.change.blob_properties,
                              .is_wide = operation->in.tables.change.is_wide });
    return STATUS_OK;
}

void table_calls_create(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, create);
}

/* ---- get ---- */

static enum status get(struct session *session, struct operation *operation, struct error *err)
{
    const struct table *table;

    TRY(session_refresh(session, NULL, err));
    TRY(resolve_table(session, operation, &table, err));
    answer_one(operation, view_of(table, operation->arena));
    return STATUS_OK;
}

void table_calls_get(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, get);
}

/* ---- update ---- */

static enum status send_update(struct session *session, const struct operation *operation, struct error *err)
{
    const struct table_change *change = &operation->in.tables.change;
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, table_name_fold(operation->table, &session->arena));
    pg_add_bytes(&params, operation->account);
    pg_add_bool(&params, change->sets_default_max_plan);
    pg_add_int2(&params, (int16_t)change->default_max_plan);
    pg_add_bool(&params, change->sets_policies);
    pg_add_bytes(&params, change->policies);
    pg_add_bool(&params, change->sets_sample_queries);
    pg_add_bool(&params, change->samples_queries);
    pg_add_bool(&params, change->sets_periods);
    pg_add_int2(&params, (int16_t)change->periods.unit);
    pg_add_int2(&params, change->periods.ahead);
    pg_add_int2(&params, change->periods.kept);
    return pg_send(&session->pg, &sql_table_update, &params, err);
}

/* Each rule costs the workers a look at the account's tables in every round. */
static enum status admit_periods(
    struct session *session, const struct operation *operation, struct error *err)
{
    struct str folded = table_name_fold(operation->table, &session->arena);
    int count = 0;

    if (operation->in.tables.change.periods.unit == PERIOD_NONE)
        return STATUS_OK;
    TRY(session_refresh(session, NULL, err));
    for (const struct table *table = catalogue_after(session->catalogue, operation->account, STR_EMPTY);
         table; table = catalogue_after(session->catalogue, operation->account, table->folded))
        count += table->periods.unit != PERIOD_NONE && !str_equal(table->folded, folded);
    if (count < LIMIT_ACCOUNT_PERIOD_RULES)
        return STATUS_OK;
    return reason_set(err, REASON_QUOTA_EXCEEDED,
        "%d tables of the account keep tables of periods, and no more may", LIMIT_ACCOUNT_PERIOD_RULES);
}

/* Writers must notice what begins or ends, so this change goes through the fence. */
static enum status update_for_writers(struct session *session, struct operation *operation, struct error *err)
{
    const struct table_change *change = &operation->in.tables.change;
    const struct table *table;
    struct pg_params params;

    TRY(session_refresh(session, NULL, err));
    TRY(resolve_writable(session, operation, &table, err));
    if (table->is_wide)
        TRY(check_beside_wide(session, change, err));
    if (change->sets_blob_properties && change->blob_properties)
        TRY(copy_declaration_check_blobs(table, err));
    TRY(catalogue_change_begin(session, err));
    if (change->sets_blob_properties && change->blob_properties != table->has_blob_properties)
        TRY(switch_blob_properties(session, table, change->blob_properties, err));
    if (change->sets_change_feed && change->change_feed != (table->feed_id != 0)) {
        pg_params_init(&params, &session->arena);
        pg_add_int8(&params, table->table_id);
        pg_add_bool(&params, change->change_feed);
        TRY(pg_send(&session->pg, &sql_feed_switch, &params, err));
    }
    TRY(send_update(session, operation, err));
    TRY(catalogue_change_commit(session, table->table_id, err));
    return get(session, operation, err);
}

/*
 * No fence is needed: only reads use these settings, and a read checks the catalogue's version
 * after it has read its rows.
 */
static enum status update(struct session *session, struct operation *operation, struct error *err)
{
    PG_RESULT row = NULL;
    enum status status;
    int64_t now_us;

    if (operation->in.tables.change.sets_periods)
        TRY(admit_periods(session, operation, err));
    if (operation->in.tables.change.sets_change_feed || operation->in.tables.change.sets_blob_properties)
        return update_for_writers(session, operation, err);
    TRY(session_send_begin(session, err));
    TRY(send_update(session, operation, err));
    TRY(pg_sync(&session->pg, err));
    status = session_take_begin(session, &now_us, err);
    if (status != STATUS_OK && status != STATUS_STALE)
        return status; /* STATUS_STALE is harmless: the statement looks for the table by itself */
    TRY(pg_next(&session->pg, &row, err));
    TRY(pg_end(&session->pg, err));
    if (PQntuples(row) == 0) {
        reason_set(err, REASON_TABLE_NOT_FOUND, "table %.*s does not exist", STR_ARG(operation->table));
        error_add_meta(err, "table", operation->table);
        return STATUS_NOT_FOUND;
    }
    TRY(catalogue_load_send_bump(&session->pg, pg_int8(row, 0, PG_ONLY_COLUMN), err));
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    return get(session, operation, err);
}

void table_calls_update(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, update);
}

/* ---- list ---- */

/* For a filter, a table is an entity with the one property TableName. */
static bool is_listed(const struct table *table, const struct operation_tables *in)
{
    struct value name = { .type = PROPERTY_STRING, .bytes = table->name };
    struct buf record;
    struct property_builder builder = { .out = &record, .last_name = STR_EMPTY };
    struct entity entity = { .key = { STR_EMPTY, STR_EMPTY } };
    bool listed;

    if (!in->filter)
        return true;
    buf_init(&record, NULL);
    property_build(&builder, STR_LITERAL("TableName"), &name);
    entity.properties.bytes = buf_str(&record);
    listed = filter_matches(in->filter, &entity);
    buf_cleanup(&record);
    return listed;
}

static enum status list(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_tables *in = &operation->in.tables;
    struct outcome_tables *out = &operation->out.tables;

    TRY(session_refresh(session, NULL, err));
    *out = (struct outcome_tables){ .position = STR_EMPTY };
    out->tables = ARENA_ARRAY(operation->arena, struct table_view, (size_t)in->limit);
    for (const struct table *table = catalogue_after(session->catalogue, operation->account, in->after);
         table; table = catalogue_after(session->catalogue, operation->account, table->folded)) {
        if (table_is_hidden(table) || !is_listed(table, in))
            continue;
        if (out->count == (size_t)in->limit) {
            out->more = true;
            break;
        }
        out->tables[out->count++] = view_of(table, operation->arena);
        out->position = arena_copy(operation->arena, table->folded);
    }
    return STATUS_OK;
}

void table_calls_list(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, list);
}

/* ---- delete ---- */

static enum status find_deletable(const struct session *session, const struct operation *operation,
    const struct table **out, struct error *err)
{
    enum status status = STATUS_OK;

    *out = catalogue_find(session->catalogue, operation->account, operation->table);
    if (!*out)
        status = reason_set(
            err, REASON_RESOURCE_NOT_FOUND, "table %.*s does not exist", STR_ARG(operation->table));
    else if ((*out)->entries_of)
        status = reason_set(err, REASON_INDEX_OWNED,
            "%.*s holds the entries of an index: drop the index instead", STR_ARG(operation->table));
    if (status != STATUS_OK)
        error_add_meta(err, "table", operation->table);
    return status;
}

static enum status send_delete(
    struct session *session, const struct table *table, int64_t now, struct error *err)
{
    const struct embedded *const statements[] = { &sql_table_delete_builds, &sql_table_delete_drops,
        &sql_table_delete_indexes };
    struct pg_params id, id_now;

    pg_params_init(&id, &session->arena);
    pg_add_int8(&id, table->table_id);
    pg_params_init(&id_now, &session->arena);
    pg_add_int8(&id_now, table->table_id);
    pg_add_int8(&id_now, now);
    TRY(pg_send(&session->pg, &sql_table_delete, &id, err));
    for (size_t i = 0; i < ARRAY_LEN(statements); i++)
        TRY(pg_send(&session->pg, statements[i], i < 2 ? &id_now : &id, err));
    pg_add_bytes(&id_now, table->account);
    pg_add_bytes(&id_now, table->name);
    return pg_send(&session->pg, &sql_table_delete_purge, &id_now, err);
}

static enum status delete_one(struct session *session, struct operation *operation, struct error *err)
{
    const struct table *table;
    int64_t now = clock_ticks();
    struct job_view *run = ARENA_NEW(operation->arena, struct job_view);

    TRY(session_refresh(session, NULL, err));
    TRY(find_deletable(session, operation, &table, err));
    TRY(copy_declaration_check_delete(session->catalogue, table, err));
    *run = (struct job_view){
        .operation_id = arena_format(operation->arena, "purge-%llx", (unsigned long long)table->table_id),
        .kind = STR_LITERAL("delete_table"),
        .target = arena_copy(operation->arena, table->name),
        .state = JOB_RUNNING,
        .started = now,
    };
    TRY(catalogue_change_begin(session, err));
    TRY(send_delete(session, table, now, err));
    TRY(catalogue_change_commit(session, table->table_id, err));
    operation->out.jobs = (struct outcome_jobs){ .jobs = run, .count = 1 };
    return STATUS_OK;
}

void table_calls_delete(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, delete_one);
}
