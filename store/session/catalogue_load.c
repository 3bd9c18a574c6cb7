/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_load.c - see the header. The rows of tables and those of indexes are both ordered by
 * family, and are read in parallel.
 */
#include "store/session/catalogue_load.h"

#include "base/hash.h"
#include "domain/indexes/index_codec.h"
#include "domain/limits.h"
#include "store/sql.h"

enum { FAMILY_BLOCK_BYTES = 512 }; /* most families are a table without an index */

/* ---- families ---- */

enum table_column {
    TABLE_FAMILY,
    TABLE_ID,
    TABLE_ACCOUNT,
    TABLE_NAME,
    TABLE_FOLDED,
    TABLE_CREATED,
    TABLE_INDEX, /* the index whose entries the table holds; 0: none */
    TABLE_DEFAULT_MAX_PLAN,
    TABLE_POLICIES,
    TABLE_FEED,
    TABLE_SAMPLES_QUERIES,
    TABLE_SIGNATURES_FROM,
    TABLE_PERIOD,
    TABLE_PERIODS_AHEAD,
    TABLE_PERIODS_KEPT,
    TABLE_BLOB_PROPERTIES,
    TABLE_IS_WIDE,
};

enum index_column {
    INDEX_FAMILY, /* the table id of the source */
    INDEX_COLUMN_ID,
    INDEX_COLUMN_ACCOUNT,
    INDEX_COLUMN_NAME,
    INDEX_COLUMN_STATE,
    INDEX_COLUMN_DEFINITION,
    INDEX_COLUMN_VIOLATIONS,
    INDEX_COLUMN_OPERATION,
    INDEX_COLUMN_REPLACES,
};

/* Rows of tables or of indexes. Those before `next` belong to families that are complete. */
struct rows {
    const PGresult *result;
    int next;
};

static bool has_next(const struct rows *rows)
{
    return rows->next < PQntuples(rows->result);
}

static int64_t next_family(const struct rows *rows)
{
    return has_next(rows) ? pg_int8(rows->result, rows->next, TABLE_FAMILY) : INT64_MAX;
}

/* The number of rows of the family whose first row is `next`. */
static size_t count_rows(const struct rows *rows, int64_t family_id)
{
    struct rows at = *rows;

    while (next_family(&at) == family_id)
        at.next++;
    return (size_t)(at.next - rows->next);
}

static struct str column(struct table_family *family, const PGresult *result, int row, int col)
{
    return arena_copy(&family->arena, pg_bytes(result, row, col));
}

static enum status fill_table(
    struct table_family *family, const PGresult *result, int row, struct table *table, struct error *err)
{
    table->table_id = pg_int8(result, row, TABLE_ID);
    table->account = column(family, result, row, TABLE_ACCOUNT);
    table->name = column(family, result, row, TABLE_NAME);
    table->folded = column(family, result, row, TABLE_FOLDED);
    table->created = pg_int8(result, row, TABLE_CREATED);
    table->default_max_plan = (enum access_path)pg_int2(result, row, TABLE_DEFAULT_MAX_PLAN);
    table->feed_id = pg_int8(result, row, TABLE_FEED);
    table->samples_queries = pg_bool(result, row, TABLE_SAMPLES_QUERIES);
    table->signatures_from = pg_int8(result, row, TABLE_SIGNATURES_FROM);
    table->periods = (struct table_periods){ .unit = (enum period_unit)pg_int2(result, row, TABLE_PERIOD),
        .ahead = pg_int2(result, row, TABLE_PERIODS_AHEAD),
        .kept = pg_int2(result, row, TABLE_PERIODS_KEPT) };
    table->has_blob_properties = pg_bool(result, row, TABLE_BLOB_PROPERTIES);
    table->is_wide = pg_bool(result, row, TABLE_IS_WIDE);
    if (!access_policies_decode(
            column(family, result, row, TABLE_POLICIES), &family->arena, &table->policies))
        return error_set(
            err, STATUS_INTERNAL, "the policies of table %.*s cannot be read", STR_ARG(table->name));
    return STATUS_OK;
}

static enum status fill_tables(struct table_family *family, struct rows *rows, struct error *err)
{
    size_t count = count_rows(rows, family->family_id);

    family->tables = ARENA_ARRAY(&family->arena, struct table *, count);
    for (; family->table_count < count; family->table_count++, rows->next++) {
        struct table *table = ARENA_NEW(&family->arena, struct table);

        TRY(fill_table(family, rows->result, rows->next, table, err));
        family->tables[family->table_count] = table;
    }
    return STATUS_OK;
}

static struct table *find_id(const struct table_family *family, int64_t table_id)
{
    for (size_t i = 0; i < family->table_count; i++)
        if (family->tables[i]->table_id == table_id)
            return family->tables[i];
    return NULL;
}

/* indexes: the number of indexes of the family. */
static void attach_index(struct table_family *family, struct index *index, size_t indexes)
{
    struct table *source = find_id(family, index->source_table_id);
    struct table *entries = find_id(family, index->index_id);

    if (entries)
        entries->entries_of = index;
    if (!source)
        return;
    index->source_name = source->name;
    if (index->state == INDEX_DROPPING)
        return;
    if (!source->indexes)
        source->indexes = ARENA_ARRAY(&family->arena, struct index *, indexes);
    if (source->index_count < LIMIT_INDEXES_PER_TABLE)
        source->indexes[source->index_count++] = index;
}

static enum status fill_index(
    struct table_family *family, const PGresult *result, int row, struct index *index, struct error *err)
{
    struct str definition = column(family, result, row, INDEX_COLUMN_DEFINITION);

    if (!index_codec_decode(definition, &family->arena, index))
        return error_set(err, STATUS_INTERNAL, "the definition of index %.*s cannot be read",
            STR_ARG(pg_bytes(result, row, INDEX_COLUMN_NAME)));
    index->index_id = pg_int8(result, row, INDEX_COLUMN_ID);
    index->source_table_id = pg_int8(result, row, INDEX_FAMILY);
    index->account = column(family, result, row, INDEX_COLUMN_ACCOUNT);
    index->name = column(family, result, row, INDEX_COLUMN_NAME);
    index->state = (enum index_state)pg_int2(result, row, INDEX_COLUMN_STATE);
    index->definition = definition;
    index->violations = pg_int8(result, row, INDEX_COLUMN_VIOLATIONS);
    index->operation_id = column(family, result, row, INDEX_COLUMN_OPERATION);
    index->replaces = pg_int8(result, row, INDEX_COLUMN_REPLACES);
    return STATUS_OK;
}

static enum status fill_indexes(struct table_family *family, struct rows *rows, struct error *err)
{
    size_t count = count_rows(rows, family->family_id);

    for (size_t i = 0; i < count; i++, rows->next++) {
        struct index *index = ARENA_NEW(&family->arena, struct index);

        TRY(fill_index(family, rows->result, rows->next, index, err));
        attach_index(family, index, count);
    }
    return STATUS_OK;
}

static enum status make_family(struct rows *tables, struct rows *indexes, int64_t family_id,
    struct table_family **out, struct error *err)
{
    struct table_family *family = table_family_new(family_id);
    enum status status;

    family->arena.block_bytes = FAMILY_BLOCK_BYTES;
    status = fill_tables(family, tables, err);
    if (status == STATUS_OK)
        status = fill_indexes(family, indexes, err);
    if (status == STATUS_OK)
        *out = family;
    else
        table_family_release(family);
    return status;
}

static enum status put_families(
    struct catalogue *catalogue, const PGresult *tables, const PGresult *indexes, struct error *err)
{
    struct rows of_tables = { tables, 0 }, of_indexes = { indexes, 0 };

    while (has_next(&of_tables) || has_next(&of_indexes)) {
        int64_t table = next_family(&of_tables), index = next_family(&of_indexes);
        struct table_family *family = NULL;

        TRY(make_family(&of_tables, &of_indexes, table < index ? table : index, &family, err));
        catalogue_put(catalogue, family);
    }
    return STATUS_OK;
}

/* ---- reading ---- */

enum head_column { HEAD_VERSION, HEAD_FLOOR, HEAD_EPOCH, HEAD_ORIGIN };

/* The results of one snapshot: tables must not be newer than the version that is read with them. */
struct flight {
    PGresult *head, *changed, *tables, *indexes; /* changed: NULL if the whole catalogue is read */
};

static void clear_flight(struct flight *flight)
{
    PQclear(flight->head);
    PQclear(flight->changed);
    PQclear(flight->tables);
    PQclear(flight->indexes);
}

static enum status send_all(struct pg *pg, struct error *err)
{
    TRY(pg_send(pg, &sql_begin_snapshot, NULL, err));
    TRY(pg_send(pg, &sql_catalogue_head, NULL, err));
    TRY(pg_send(pg, &sql_catalogue_tables, NULL, err));
    return pg_send(pg, &sql_catalogue_indexes, NULL, err);
}

static enum status send_changed(struct pg *pg, int64_t since, struct error *err)
{
    struct arena arena;
    struct pg_params params;
    enum status status = pg_send(pg, &sql_begin_snapshot, NULL, err);

    arena_init(&arena);
    pg_params_init(&params, &arena);
    pg_add_int8(&params, since);
    if (status == STATUS_OK)
        status = pg_send(pg, &sql_catalogue_head, NULL, err);
    if (status == STATUS_OK)
        status = pg_send(pg, &sql_catalogue_changed, &params, err);
    if (status == STATUS_OK)
        status = pg_send(pg, &sql_catalogue_tables_changed, &params, err);
    if (status == STATUS_OK)
        status = pg_send(pg, &sql_catalogue_indexes_changed, &params, err);
    arena_cleanup(&arena);
    return status;
}

static enum status take_flight(struct pg *pg, struct flight *flight, bool is_all, struct error *err)
{
    TRY(pg_send(pg, &sql_commit, NULL, err));
    TRY(pg_sync(pg, err));
    TRY(pg_done(pg, err));
    TRY(pg_next(pg, &flight->head, err));
    if (!is_all)
        TRY(pg_next(pg, &flight->changed, err));
    TRY(pg_next(pg, &flight->tables, err));
    TRY(pg_next(pg, &flight->indexes, err));
    return pg_end(pg, err);
}

static void fill_head(struct catalogue *catalogue, const PGresult *head)
{
    catalogue->version = pg_int8(head, 0, HEAD_VERSION);
    catalogue->floor = pg_int8(head, 0, HEAD_FLOOR);
    catalogue->epoch = pg_int8(head, 0, HEAD_EPOCH);
    catalogue->origin = hash_bytes(HASH_EMPTY, pg_bytes(head, 0, HEAD_ORIGIN));
}

static enum status read_all(
    struct pg *pg, struct flight *flight, struct catalogue *catalogue, struct error *err)
{
    TRY(send_all(pg, err));
    TRY(take_flight(pg, flight, true, err));
    fill_head(catalogue, flight->head);
    catalogue->accounts_version = catalogue->version;
    return put_families(catalogue, flight->tables, flight->indexes, err);
}

static enum status load_all(struct pg *pg, struct catalogue **out, struct error *err)
{
    struct catalogue *catalogue = catalogue_new();
    struct flight flight = { NULL };
    enum status status = read_all(pg, &flight, catalogue, err);

    clear_flight(&flight);
    if (status == STATUS_OK) {
        *out = catalogue;
        return STATUS_OK;
    }
    pg_recover(pg);
    catalogue_release(catalogue);
    return status;
}

/*
 * Guard G44: whether the changes lead from the known catalogue to the present one without a gap:
 * every version in between has its row.
 */
static bool goes_on(const struct catalogue *known, const struct catalogue *head, const PGresult *changed)
{
    return head->origin == known->origin && head->epoch == known->epoch && head->version >= known->version &&
           head->version - known->version == PQntuples(changed);
}

/*
 * A name may pass from one family to another, so all changed families are removed before any is
 * added.
 */
static enum status apply_changes(struct catalogue *catalogue, const struct flight *flight, struct error *err)
{
    for (int i = 0; i < PQntuples(flight->changed); i++) {
        int64_t changed = pg_int8(flight->changed, i, PG_ONLY_COLUMN);

        if (changed == CHANGED_ACCOUNTS)
            catalogue->accounts_version = catalogue->version;
        else
            catalogue_remove(catalogue, changed);
    }
    return put_families(catalogue, flight->tables, flight->indexes, err);
}

/* *out: NULL if the changes are not known. */
static enum status read_changed(struct pg *pg, const struct catalogue *known, struct flight *flight,
    struct catalogue **out, struct error *err)
{
    struct catalogue head = { 0 };

    TRY(send_changed(pg, known->version, err));
    TRY(take_flight(pg, flight, false, err));
    fill_head(&head, flight->head);
    if (!goes_on(known, &head, flight->changed))
        return STATUS_OK;
    if (head.version == known->version) {
        *out = catalogue_retain(known);
        return STATUS_OK;
    }
    *out = catalogue_copy(known);
    fill_head(*out, flight->head);
    return apply_changes(*out, flight, err);
}

static enum status load_changed(
    struct pg *pg, const struct catalogue *known, struct catalogue **out, struct error *err)
{
    struct flight flight = { NULL };
    enum status status = read_changed(pg, known, &flight, out, err);

    clear_flight(&flight);
    if (status == STATUS_OK)
        return STATUS_OK;
    pg_recover(pg);
    catalogue_release(*out);
    *out = NULL;
    return status;
}

enum status catalogue_load(
    struct pg *pg, const struct catalogue *known, struct catalogue **out, struct error *err)
{
    *out = NULL;
    if (known)
        TRY(load_changed(pg, known, out, err));
    return *out ? STATUS_OK : load_all(pg, out, err);
}

/* ---- changing ---- */

enum status catalogue_load_send_bump(struct pg *pg, int64_t changed, struct error *err)
{
    struct arena arena;
    struct pg_params params;
    enum status status;

    arena_init(&arena);
    pg_params_init(&params, &arena);
    pg_add_int8(&params, changed);
    status = pg_send(pg, &sql_catalogue_bump, &params, err);
    arena_cleanup(&arena);
    return status;
}

enum status catalogue_load_commit_change(struct pg *pg, struct error *err)
{
    PG_RESULT result = NULL;

    TRY(catalogue_load_send_bump(pg, CHANGED_NO_FAMILY, err));
    TRY(pg_send(pg, &sql_commit, NULL, err));
    TRY(pg_sync(pg, err));
    TRY(pg_done(pg, err));
    TRY(pg_next(pg, &result, err));
    return pg_end(pg, err);
}
