/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_load.c - see the header.
 */
#include "store/session/catalogue_load.h"

#include <stdlib.h>

#include "domain/indexes/index_codec.h"
#include "domain/limits.h"
#include "store/sql.h"

void catalogue_load_free(struct catalogue *catalogue)
{
    if (!catalogue)
        return;
    arena_cleanup(&catalogue->arena);
    free(catalogue);
}

static int by_name(const void *a, const void *b)
{
    const struct table *x = *(struct table *const *)a, *y = *(struct table *const *)b;
    int order = str_compare(x->account, y->account);

    return order != 0 ? order : str_compare(x->folded, y->folded);
}

static struct str column(struct catalogue *catalogue, const PGresult *result, int row, int col)
{
    return arena_copy(&catalogue->arena, pg_bytes(result, row, col));
}

enum table_column {
    TABLE_ID,
    TABLE_ACCOUNT,
    TABLE_NAME,
    TABLE_FOLDED,
    TABLE_CREATED,
    TABLE_INDEX, /* whose entries it holds; 0: none */
    TABLE_DEFAULT_MAX_PLAN,
    TABLE_POLICIES,
    TABLE_FEED,
    TABLE_SAMPLES_QUERIES,
    TABLE_SIGNATURES_FROM,
};

static enum status fill_tables(struct catalogue *catalogue, const PGresult *result, struct error *err)
{
    int count = PQntuples(result);

    catalogue->table_count = (size_t)count;
    catalogue->tables = ARENA_ARRAY(&catalogue->arena, struct table *, (size_t)count);
    for (int i = 0; i < count; i++) {
        struct table *table = ARENA_NEW(&catalogue->arena, struct table);

        table->table_id = pg_int8(result, i, TABLE_ID);
        table->account = column(catalogue, result, i, TABLE_ACCOUNT);
        table->name = column(catalogue, result, i, TABLE_NAME);
        table->folded = column(catalogue, result, i, TABLE_FOLDED);
        table->created = pg_int8(result, i, TABLE_CREATED);
        table->default_max_plan = (enum access_path)pg_int2(result, i, TABLE_DEFAULT_MAX_PLAN);
        if (!access_policies_decode(
                column(catalogue, result, i, TABLE_POLICIES), &catalogue->arena, &table->policies))
            return error_set(
                err, STATUS_INTERNAL, "the policies of table %.*s cannot be read", STR_ARG(table->name));
        table->feed_id = pg_int8(result, i, TABLE_FEED);
        table->samples_queries = pg_bool(result, i, TABLE_SAMPLES_QUERIES);
        table->signatures_from = pg_int8(result, i, TABLE_SIGNATURES_FROM);
        catalogue->tables[i] = table;
    }
    qsort(catalogue->tables, (size_t)count, sizeof(catalogue->tables[0]), by_name);
    return STATUS_OK;
}

static struct table *find_id(struct catalogue *catalogue, int64_t table_id)
{
    for (size_t i = 0; i < catalogue->table_count; i++)
        if (catalogue->tables[i]->table_id == table_id)
            return catalogue->tables[i];
    return NULL;
}

static void attach_index(struct catalogue *catalogue, struct index *index)
{
    struct table *source = find_id(catalogue, index->source_table_id);
    struct table *entries = find_id(catalogue, index->index_id);

    if (entries)
        entries->entries_of = index;
    if (!source)
        return;
    index->source_name = source->name;
    if (index->state == INDEX_DROPPING)
        return;
    if (!source->indexes)
        source->indexes = ARENA_ARRAY(&catalogue->arena, struct index *, LIMIT_INDEXES_PER_TABLE);
    if (source->index_count < LIMIT_INDEXES_PER_TABLE)
        source->indexes[source->index_count++] = index;
}

enum index_column {
    INDEX_COLUMN_ID,
    INDEX_COLUMN_SOURCE,
    INDEX_COLUMN_ACCOUNT,
    INDEX_COLUMN_NAME,
    INDEX_COLUMN_STATE,
    INDEX_COLUMN_DEFINITION,
    INDEX_COLUMN_VIOLATIONS,
    INDEX_COLUMN_OPERATION,
    INDEX_COLUMN_REPLACES,
};

static enum status fill_indexes(struct catalogue *catalogue, const PGresult *result, struct error *err)
{
    for (int i = 0; i < PQntuples(result); i++) {
        struct index *index = ARENA_NEW(&catalogue->arena, struct index);
        struct str definition = column(catalogue, result, i, INDEX_COLUMN_DEFINITION);

        if (!index_codec_decode(definition, &catalogue->arena, index))
            return error_set(err, STATUS_INTERNAL, "the definition of index %.*s cannot be read",
                STR_ARG(pg_bytes(result, i, INDEX_COLUMN_NAME)));
        index->index_id = pg_int8(result, i, INDEX_COLUMN_ID);
        index->source_table_id = pg_int8(result, i, INDEX_COLUMN_SOURCE);
        index->account = column(catalogue, result, i, INDEX_COLUMN_ACCOUNT);
        index->name = column(catalogue, result, i, INDEX_COLUMN_NAME);
        index->state = (enum index_state)pg_int2(result, i, INDEX_COLUMN_STATE);
        index->definition = definition;
        index->violations = pg_int8(result, i, INDEX_COLUMN_VIOLATIONS);
        index->operation_id = column(catalogue, result, i, INDEX_COLUMN_OPERATION);
        index->replaces = pg_int8(result, i, INDEX_COLUMN_REPLACES);
        attach_index(catalogue, index);
    }
    return STATUS_OK;
}

/* Version, tables and indexes in one snapshot: a version must never stand beside newer tables. */
static enum status load(struct pg *pg, struct catalogue *catalogue, struct error *err)
{
    PG_RESULT version = NULL;
    PG_RESULT tables = NULL;
    PG_RESULT indexes = NULL;

    TRY(pg_send(pg, &sql_begin_snapshot, NULL, err));
    TRY(pg_send(pg, &sql_catalogue_check, NULL, err));
    TRY(pg_send(pg, &sql_catalogue_tables, NULL, err));
    TRY(pg_send(pg, &sql_catalogue_indexes, NULL, err));
    TRY(pg_send(pg, &sql_commit, NULL, err));
    TRY(pg_sync(pg, err));
    TRY(pg_done(pg, err));
    TRY(pg_next(pg, &version, err));
    TRY(pg_next(pg, &tables, err));
    TRY(pg_next(pg, &indexes, err));
    TRY(pg_end(pg, err));

    catalogue->version = pg_int8(version, 0, CHECK_VERSION);
    catalogue->floor = pg_int8(version, 0, CHECK_FLOOR);
    catalogue->epoch = pg_int8(version, 0, CHECK_EPOCH);
    TRY(fill_tables(catalogue, tables, err));
    return fill_indexes(catalogue, indexes, err);
}

enum status catalogue_load(struct pg *pg, struct catalogue **out, struct error *err)
{
    struct catalogue *catalogue = xcalloc(1, sizeof(*catalogue));
    enum status status;

    arena_init(&catalogue->arena);
    status = load(pg, catalogue, err);
    if (status != STATUS_OK) {
        pg_recover(pg);
        catalogue_load_free(catalogue);
        return status;
    }
    *out = catalogue;
    return STATUS_OK;
}

enum status catalogue_load_commit_change(struct pg *pg, struct error *err)
{
    PG_RESULT result = NULL;

    TRY(pg_send(pg, &sql_catalogue_bump, NULL, err));
    TRY(pg_send(pg, &sql_commit, NULL, err));
    TRY(pg_sync(pg, err));
    TRY(pg_done(pg, err));
    TRY(pg_next(pg, &result, err));
    return pg_end(pg, err);
}
