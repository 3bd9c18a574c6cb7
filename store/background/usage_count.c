/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_count.c - see the header.
 */
#include "store/background/usage_count.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "store/session/catalogue_load.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

/* 2 MB: a few milliseconds, behind which other callers may have to wait for a processor. */
enum { CHUNK_BLOCKS = 256, FIRST_ROOM = 64 };

enum chunk_column { CHUNK_TABLE_ID, CHUNK_ROWS, CHUNK_BYTES, CHUNK_ACCOUNT };

/* Each sums up some pages of a table, in the order of usage_blocks.sql. */
static const struct embedded *const sums[USAGE_COUNTED_TABLES] = { &sql_usage_chunk, &sql_usage_blob_chunks,
    &sql_usage_blob_strays };

static int compare_usage(const struct table_usage *a, const struct table_usage *b)
{
    if (a->table_id != b->table_id)
        return a->table_id < b->table_id ? -1 : 1;
    return str_compare(a->account, b->account);
}

/* The index at which the table's usage is, or has to be inserted: the array is sorted. */
static size_t place_of(const struct usage_count *count, const struct table_usage *usage)
{
    size_t low = 0, high = count->table_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_usage(&count->tables[middle], usage) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_table(struct usage_count *count, const struct table_usage *more)
{
    size_t place = place_of(count, more);
    struct table_usage *at;

    if (count->table_count == count->room) {
        count->room = count->room ? 2 * count->room : FIRST_ROOM;
        count->tables = xrealloc(count->tables, count->room * sizeof(*count->tables));
    }
    at = &count->tables[place];
    if (place == count->table_count || compare_usage(at, more) != 0) {
        memmove(at + 1, at, (count->table_count - place) * sizeof(*at));
        count->table_count++;
        *at = (struct table_usage){ .table_id = more->table_id,
            .account = arena_copy(&count->names, more->account) };
    }
    at->rows += more->rows;
    at->bytes += more->bytes;
}

/* Pages that are added during the count are left to the next count. */
static enum status read_blocks(struct session *session, struct usage_count *count, struct error *err)
{
    PG_RESULT row = NULL;

    TRY(pg_query(&session->pg, &sql_usage_blocks, NULL, &row, err));
    for (int i = 0; i < USAGE_COUNTED_TABLES; i++) {
        count->blocks += pg_int8(row, 0, i);
        count->ends[i] = count->blocks;
    }
    return STATUS_OK;
}

static enum status count_chunk(struct session *session, void *context, struct error *err)
{
    struct usage_count *count = context;
    struct pg_params params;
    PG_RESULT rows = NULL;
    int64_t first, end;
    int table = 0;

    if (count->blocks == 0)
        TRY(read_blocks(session, count, err));
    while (table < USAGE_COUNTED_TABLES - 1 && count->next_block >= count->ends[table])
        table++;
    first = table > 0 ? count->ends[table - 1] : 0;
    end = numbers_min(count->next_block + CHUNK_BLOCKS, count->ends[table]);
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, count->next_block - first);
    pg_add_int8(&params, end - first);
    TRY(pg_query(&session->pg, sums[table], &params, &rows, err));
    for (int i = 0; i < PQntuples(rows); i++)
        add_table(count, &(struct table_usage){ .table_id = pg_int8(rows, i, CHUNK_TABLE_ID),
                             .account = pg_bytes(rows, i, CHUNK_ACCOUNT),
                             .rows = pg_int8(rows, i, CHUNK_ROWS),
                             .bytes = pg_int8(rows, i, CHUNK_BYTES) });
    count->next_block = end;
    return STATUS_OK;
}

static void add_arrays(const struct usage_count *count, struct pg_params *params, struct arena *arena)
{
    struct pg_array ids, rows, bytes, accounts;

    pg_array_init(&ids, arena, PG_INT8);
    pg_array_init(&rows, arena, PG_INT8);
    pg_array_init(&bytes, arena, PG_INT8);
    pg_array_init(&accounts, arena, PG_TEXT);
    for (size_t i = 0; i < count->table_count; i++) {
        pg_array_int8(&ids, count->tables[i].table_id);
        pg_array_int8(&rows, count->tables[i].rows);
        pg_array_int8(&bytes, count->tables[i].bytes);
        pg_array_bytes(&accounts, count->tables[i].account);
    }
    pg_add_array(params, &ids);
    pg_add_array(params, &rows);
    pg_add_array(params, &bytes);
    pg_add_array(params, &accounts);
}

/*
 * Servers know the usage of accounts from the access snapshot, so a change raises the catalogue's
 * version. A repeat changes nothing.
 */
static enum status store_count(struct session *session, void *context, struct error *err)
{
    struct pg *pg = &session->pg;
    struct pg_params params;
    PG_RESULT changed = NULL;

    pg_params_init(&params, &session->arena);
    add_arrays(context, &params, &session->arena);
    TRY(pg_send(pg, &sql_begin, NULL, err));
    TRY(pg_send(pg, &sql_usage_store, &params, err));
    TRY(pg_sync(pg, err));
    TRY(pg_done(pg, err));
    TRY(pg_next(pg, &changed, err));
    TRY(pg_end(pg, err));
    if (PQntuples(changed) > 0)
        TRY(catalogue_load_send_bump(pg, CHANGED_ACCOUNTS, err));
    TRY(pg_send(pg, &sql_commit, NULL, err));
    TRY(pg_sync(pg, err));
    return pg_end(pg, err);
}

enum status usage_count_chunk(struct worker *store, struct usage_count *count, bool *ended, struct error *err)
{
    if (count->blocks == 0 || count->next_block < count->blocks)
        TRY(worker_attempt(store, count_chunk, count, err));
    *ended = count->next_block >= count->blocks;
    if (*ended) {
        TRY(worker_attempt(store, store_count, count, err));
        usage_count_drop(count);
    }
    return STATUS_OK;
}

void usage_count_drop(struct usage_count *count)
{
    free(count->tables);
    arena_cleanup(&count->names);
    *count = (struct usage_count){ 0 };
}
