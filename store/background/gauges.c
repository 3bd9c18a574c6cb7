/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauges.c - see the header.
 */
#include "store/background/gauges.h"

#include <stdio.h>

#include "domain/indexes/index_codec.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

enum index_column {
    INDEX_ACCOUNT,
    INDEX_NAME,
    INDEX_LAG_US,
    INDEX_STANDING,
    INDEX_DISCARDED,
    INDEX_DEFINITION,
    INDEX_PROVEN_US,
    INDEX_DIFFERENCES,
};
enum blob_column { BLOB_CONTENTS, BLOB_CHUNKS, BLOB_OLDEST_US, BLOB_STRAYS };
enum dead_letter_column { DEAD_LETTER_KIND, DEAD_LETTER_STATE, DEAD_LETTER_COUNT };

/*
 * The entries of a strong index commit with their writes, so it has no lag, whatever intents its
 * table has.
 */
static int64_t lag_of(const PGresult *rows, int row, struct arena *arena)
{
    struct index index = { 0 };

    if (index_codec_decode(pg_bytes(rows, row, INDEX_DEFINITION), arena, &index) && index_is_strong(&index))
        return 0;
    return pg_int8(rows, row, INDEX_LAG_US);
}

static void add_index(struct gauges *gauges, const PGresult *rows, int row, struct arena *arena)
{
    bool has_own = gauges->index_count < MAX_INDEX_GAUGES;
    size_t at = has_own ? gauges->index_count : MAX_INDEX_GAUGES;
    struct index_gauge *gauge = &gauges->indexes[at];
    int64_t lag_us = lag_of(rows, row, arena);

    gauges->index_count = at + 1;
    if (has_own) {
        snprintf(gauge->account, sizeof(gauge->account), "%.*s", STR_ARG(pg_bytes(rows, row, INDEX_ACCOUNT)));
        snprintf(gauge->name, sizeof(gauge->name), "%.*s", STR_ARG(pg_bytes(rows, row, INDEX_NAME)));
    }
    if (has_own || row == MAX_INDEX_GAUGES || pg_int8(rows, row, INDEX_PROVEN_US) < gauge->proven_us)
        gauge->proven_us = pg_int8(rows, row, INDEX_PROVEN_US);
    gauge->differences += pg_int8(rows, row, INDEX_DIFFERENCES);
    if (lag_us > gauge->lag_us)
        gauge->lag_us = lag_us;
    gauge->dead_letters[GAUGE_STANDING] += pg_int8(rows, row, INDEX_STANDING);
    gauge->dead_letters[GAUGE_DISCARDED] += pg_int8(rows, row, INDEX_DISCARDED);
}

static void add_dead_letters(struct gauges *gauges, const PGresult *rows, int row)
{
    int kind = pg_int2(rows, row, DEAD_LETTER_KIND) - 1, state = pg_int2(rows, row, DEAD_LETTER_STATE) - 1;

    if (kind >= 0 && kind < WORK_KINDS && state >= 0 && state < GAUGE_DEAD_LETTERS)
        gauges->dead_letters[kind][state] = pg_int8(rows, row, DEAD_LETTER_COUNT);
}

/* A statement that counts up to a bound. */
static enum status send_count(
    struct session *session, const struct embedded *sql, int64_t max, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, max);
    return pg_send(&session->pg, sql, &params, err);
}

static struct blob_backlog read_blobs(const PGresult *rows)
{
    return (struct blob_backlog){ .contents = pg_int8(rows, 0, BLOB_CONTENTS),
        .chunks = pg_int8(rows, 0, BLOB_CHUNKS),
        .strays = pg_int8(rows, 0, BLOB_STRAYS),
        .oldest_us = pg_int8(rows, 0, BLOB_OLDEST_US) };
}

static enum status read_gauges(struct session *session, void *context, struct error *err)
{
    struct gauges *gauges = context;
    PG_RESULT indexes = NULL;
    PG_RESULT dead_letters = NULL;
    PG_RESULT blobs = NULL;

    TRY(send_count(session, &sql_gauge_indexes, MAX_LETTERS_COUNTED, err));
    TRY(send_count(session, &sql_gauge_dead_letters, MAX_LETTERS_COUNTED, err));
    TRY(send_count(session, &sql_gauge_blobs, MAX_BACKLOG_COUNTED, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, &indexes, err));
    TRY(pg_next(&session->pg, &dead_letters, err));
    TRY(pg_next(&session->pg, &blobs, err));
    TRY(pg_end(&session->pg, err));
    *gauges = (struct gauges){ 0 };
    for (int i = 0; i < PQntuples(indexes); i++)
        add_index(gauges, indexes, i, &session->arena);
    for (int i = 0; i < PQntuples(dead_letters); i++)
        add_dead_letters(gauges, dead_letters, i);
    gauges->blobs = read_blobs(blobs);
    return STATUS_OK;
}

enum status gauges_read(struct worker *store, struct gauges *out, struct error *err)
{
    return worker_attempt(store, read_gauges, out, err);
}
