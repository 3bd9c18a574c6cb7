/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg_load.c - the throughput of libpq alone on the database: the ceilings of batches and pages.
 *
 *   bench_pg_load get    CONNECTIONS SECONDS FIRST COUNT   one row by its key at a time
 *   bench_pg_load gets   CONNECTIONS SECONDS FIRST COUNT   array statements of 64 keys
 *   bench_pg_load upsert CONNECTIONS SECONDS FIRST COUNT   array statements of 64 rows of bench_rows
 *   bench_pg_load range  CONNECTIONS SECONDS FIRST COUNT   pages of 1000 rows, all columns
 *   bench_pg_load rows20 CONNECTIONS SECONDS FIRST COUNT   ranges of 20 rows, all columns, 8 of them in a pipeline
 *   bench_pg_load chunk-put CONNECTIONS SECONDS FIRST COUNT   rows of 256 KiB into bench_chunks, a commit for each
 *   bench_pg_load chunk-get CONNECTIONS SECONDS FIRST COUNT   one such row by its number
 *
 * The database is TAVOLA_POSTGRES; keys are the numbers FIRST .. FIRST + COUNT - 1 (see bench.py). Each connection
 * is a thread's; parameters and results are binary, statements prepared.
 *
 * Prints one line: rows seconds p50_us.
 */
#include <endian.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common.h"

enum {
    CONNECTIONS_MAX = 16,
    ARRAY_ROWS = 64,
    PAGE_ROWS = 1000,
    PIPELINED = 8, /* statements under way on a connection */
    PROPERTY_BYTES = 250,
    KEYS_PER_PARTITION = 100,
    CHUNK_BYTES = 256 * 1024,
    ARRAY_BYTES = ARRAY_ROWS * (PROPERTY_BYTES + 4) + 64,
    SAMPLES_MAX = 1000000,
    OID_INT8 = 20,
    OID_TEXT = 25,
    OID_BYTEA = 17,
};

struct load {
    const struct mode *mode;
    pthread_t thread;
    PGconn *connection;
    unsigned seed;
    long first, count;
    int64_t end_ns;
    uint64_t rows;
    uint32_t *samples_us;
    size_t sample_count;
};

struct mode {
    const char *name;
    const char *sql;
    int (*ask)(struct load *load); /* rows returned */
};

static long any_key(struct load *load)
{
    return load->first + rand_r(&load->seed) % load->count;
}

static PGresult *run(struct load *load, int count, const char *const *values, const int *lengths)
{
    static const int binary[4] = { 1, 1, 1, 1 };
    PGresult *result = PQexecPrepared(load->connection, "ask", count, values, lengths, binary, 1);
    ExecStatusType status = PQresultStatus(result);

    require(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK, PQerrorMessage(load->connection));
    return result;
}

static int key_texts(long key, char partition[32], char row[32], int lengths[2])
{
    lengths[0] = snprintf(partition, 32, "p%ld", key / KEYS_PER_PARTITION);
    lengths[1] = snprintf(row, 32, "r%ld", key);
    return 2;
}

/* get and range: their only parameter is the key. */
static int ask_by_key(struct load *load)
{
    char partition[32], row[32];
    const char *values[2] = { partition, row };
    int lengths[2];
    PGresult *result = run(load, key_texts(any_key(load), partition, row, lengths), values, lengths);
    int rows = PQntuples(result);

    require(rows > 0, "a key is not there");
    PQclear(result);
    return rows;
}

static int take_pipelined(struct load *load)
{
    PGresult *result = PQgetResult(load->connection), *end;
    int rows = result ? PQntuples(result) : 0;

    require(
        result && PQresultStatus(result) == PGRES_TUPLES_OK && rows > 0, PQerrorMessage(load->connection));
    PQclear(result);
    end = PQgetResult(load->connection);
    require(end == NULL, "a statement has one result");
    return rows;
}

/* rows20: several statements are sent before the first result is read, and are flushed together. */
static int ask_pipelined(struct load *load)
{
    static const int binary[2] = { 1, 1 };
    PGresult *end;
    int rows = 0;

    for (int i = 0; i < PIPELINED; i++) {
        char partition[32], row[32];
        const char *values[2] = { partition, row };
        int lengths[2], count = key_texts(any_key(load), partition, row, lengths);

        require(PQsendQueryPrepared(load->connection, "ask", count, values, lengths, binary, 1) == 1,
            PQerrorMessage(load->connection));
    }
    require(PQpipelineSync(load->connection) == 1, PQerrorMessage(load->connection));
    for (int i = 0; i < PIPELINED; i++)
        rows += take_pipelined(load);
    end = PQgetResult(load->connection);
    require(end && PQresultStatus(end) == PGRES_PIPELINE_SYNC, PQerrorMessage(load->connection));
    PQclear(end);
    return rows;
}

/* ---- arrays in the binary form of PostgreSQL ---- */

struct array {
    char bytes[ARRAY_BYTES];
    int size;
};

static void put_int4(struct array *array, uint32_t value)
{
    value = htobe32(value);
    memcpy(array->bytes + array->size, &value, 4);
    array->size += 4;
}

static void array_begin(struct array *array, uint32_t element_type)
{
    array->size = 0;
    put_int4(array, 1); /* dimensions */
    put_int4(array, 0); /* no nulls */
    put_int4(array, element_type);
    put_int4(array, ARRAY_ROWS);
    put_int4(array, 1); /* the first index */
}

static void array_put(struct array *array, const void *bytes, int size)
{
    put_int4(array, (uint32_t)size);
    memcpy(array->bytes + array->size, bytes, (size_t)size);
    array->size += size;
}

static int by_value(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

/* Sorted, so that two connections cannot deadlock; each key once, as ON CONFLICT demands. */
static void choose_keys(struct load *load, long keys[ARRAY_ROWS])
{
    long stride = load->count / ARRAY_ROWS;

    for (int i = 0; i < ARRAY_ROWS; i++)
        keys[i] = load->first + i * stride + rand_r(&load->seed) % stride;
    qsort(keys, ARRAY_ROWS, sizeof(keys[0]), by_value);
}

static int ask_by_keys(struct load *load)
{
    struct array partitions, rows;
    long keys[ARRAY_ROWS];
    PGresult *result;

    choose_keys(load, keys);
    array_begin(&partitions, OID_TEXT);
    array_begin(&rows, OID_TEXT);
    for (int i = 0; i < ARRAY_ROWS; i++) {
        char partition[32], row[32];
        int lengths[2];

        key_texts(keys[i], partition, row, lengths);
        array_put(&partitions, partition, lengths[0]);
        array_put(&rows, row, lengths[1]);
    }
    const char *parameters[2] = { partitions.bytes, rows.bytes };
    const int lengths[2] = { partitions.size, rows.size };
    result = run(load, 2, parameters, lengths);
    require(PQntuples(result) == ARRAY_ROWS, "a key is not there");
    PQclear(result);
    return ARRAY_ROWS;
}

static int ask_upsert(struct load *load)
{
    static const char properties[PROPERTY_BYTES];
    struct array partitions, rows, stamps, values;
    long keys[ARRAY_ROWS];

    choose_keys(load, keys);
    array_begin(&partitions, OID_TEXT);
    array_begin(&rows, OID_TEXT);
    array_begin(&stamps, OID_INT8);
    array_begin(&values, OID_BYTEA);
    for (int i = 0; i < ARRAY_ROWS; i++) {
        char partition[32], row[32];
        uint64_t stamp = htobe64((uint64_t)now_ns());
        int lengths[2];

        key_texts(keys[i], partition, row, lengths);
        array_put(&partitions, partition, lengths[0]);
        array_put(&rows, row, lengths[1]);
        array_put(&stamps, &stamp, sizeof(stamp));
        array_put(&values, properties, PROPERTY_BYTES);
    }
    const char *parameters[4] = { partitions.bytes, rows.bytes, stamps.bytes, values.bytes };
    const int lengths[4] = { partitions.size, rows.size, stamps.size, values.size };
    PQclear(run(load, 4, parameters, lengths));
    return ARRAY_ROWS;
}

/* The rows of bench_chunks have numbers; those that are put are never read. */
static int ask_put_chunk(struct load *load)
{
    static _Thread_local char bytes[CHUNK_BYTES];
    uint64_t number = htobe64(((uint64_t)now_ns() & ~15ULL) | (load->seed & 15));
    const char *values[2] = { (char *)&number, bytes };
    const int lengths[2] = { sizeof(number), CHUNK_BYTES };

    PQclear(run(load, 2, values, lengths));
    return 1;
}

static int ask_get_chunk(struct load *load)
{
    uint64_t number = htobe64((uint64_t)any_key(load));
    const char *values[1] = { (char *)&number };
    const int lengths[1] = { sizeof(number) };
    PGresult *result = run(load, 1, values, lengths);

    require(PQntuples(result) == 1 && PQgetlength(result, 0, 0) == CHUNK_BYTES, "a chunk is not there");
    PQclear(result);
    return 1;
}

static const struct mode modes[] = {
    /* The chunks of a blob do not wait for the disk either. The setting is that of the session. */
    { "chunk-put",
        "with s as materialized (select set_config('synchronous_commit', 'off', false)) "
        "insert into bench_chunks (number, bytes) select $1::int8, $2::bytea from s",
        ask_put_chunk },
    { "chunk-get", "select bytes from bench_chunks where number = $1::int8", ask_get_chunk },
    { "get",
        "select version, ts, properties from bench_rows "
        "where table_id = 1 and partition_key = $1::text and row_key = $2::text and bucket = 0",
        ask_by_key },
    { "gets",
        "select u.n, e.version, e.ts, e.properties from unnest($1::text[], $2::text[]) with ordinality u(p, "
        "r, n) "
        "join bench_rows e on e.table_id = 1 and e.partition_key = u.p and e.row_key = u.r and e.bucket = 0",
        ask_by_keys },
    { "range",
        "select partition_key, row_key, version, ts, dead, properties from bench_rows "
        "where table_id = 1 and (partition_key, row_key) >= ($1::text, $2::text) "
        "order by partition_key, row_key limit 1000",
        ask_by_key },
    { "rows20",
        "select partition_key, row_key, version, ts, dead, properties from bench_rows "
        "where table_id = 1 and (partition_key, row_key) >= ($1::text, $2::text) "
        "order by partition_key, row_key limit 20",
        ask_pipelined },
    { "upsert",
        "insert into bench_rows as e (table_id, partition_key, row_key, bucket, version, ts, properties) "
        "select 1, u.p, u.r, 0, 1, u.ts, u.x from unnest($1::text[], $2::text[], $3::int8[], $4::bytea[]) "
        "u(p, r, ts, x) on conflict (table_id, partition_key, row_key, bucket) do update "
        "set version = e.version + 1, ts = excluded.ts, properties = excluded.properties returning version, "
        "ts",
        ask_upsert },
};

/* ---- the run ---- */

static void *serve(void *argument)
{
    struct load *load = argument;

    while (now_ns() < load->end_ns) {
        int64_t began_ns = now_ns();

        load->rows += (uint64_t)load->mode->ask(load);
        if (load->sample_count < SAMPLES_MAX)
            load->samples_us[load->sample_count++] = (uint32_t)((now_ns() - began_ns) / 1000);
    }
    return NULL;
}

static void open_load(struct load *load)
{
    const char *address = getenv("TAVOLA_POSTGRES");
    PGresult *prepared;

    require(address != NULL, "TAVOLA_POSTGRES is not set");
    load->connection = PQconnectdb(address);
    require(PQstatus(load->connection) == CONNECTION_OK, PQerrorMessage(load->connection));
    prepared = PQprepare(load->connection, "ask", load->mode->sql, 0, NULL);
    require(PQresultStatus(prepared) == PGRES_COMMAND_OK, PQerrorMessage(load->connection));
    PQclear(prepared);
    require(load->mode->ask != ask_pipelined || PQenterPipelineMode(load->connection) == 1, "no pipeline");
    load->samples_us = malloc(SAMPLES_MAX * sizeof(*load->samples_us));
    require(load->samples_us != NULL, "out of memory");
}

static int by_time(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static const struct mode *mode_named(const char *name)
{
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(modes[i].name, name) == 0)
            return &modes[i];
    return NULL;
}

int main(int argc, char **argv)
{
    static struct load loads[CONNECTIONS_MAX];
    const struct mode *mode = argc == 6 ? mode_named(argv[1]) : NULL;
    int connections = mode ? (int)strtol(argv[2], NULL, 10) : 0;
    int64_t began_ns;
    uint64_t rows = 0;

    require(connections > 0 && connections <= CONNECTIONS_MAX,
        "needs get|gets|upsert|range|rows20|chunk-put|chunk-get CONNECTIONS SECONDS FIRST COUNT");
    for (int i = 0; i < connections; i++) {
        loads[i] = (struct load){ .mode = mode,
            .seed = (unsigned)now_ns() + (unsigned)i,
            .first = strtol(argv[4], NULL, 10),
            .count = strtol(argv[5], NULL, 10) };
        open_load(&loads[i]);
    }
    began_ns = now_ns();
    for (int i = 0; i < connections; i++) {
        loads[i].end_ns = began_ns + (int64_t)(strtod(argv[3], NULL) * 1e9);
        require(pthread_create(&loads[i].thread, NULL, serve, &loads[i]) == 0, "cannot start a thread");
    }
    for (int i = 0; i < connections; i++) {
        pthread_join(loads[i].thread, NULL);
        PQfinish(loads[i].connection);
        rows += loads[i].rows;
    }
    qsort(loads[0].samples_us, loads[0].sample_count, sizeof(uint32_t), by_time);
    printf("rows %llu seconds %.4f p50_us %u\n", (unsigned long long)rows,
        (double)(now_ns() - began_ns) / 1e9, loads[0].samples_us[loads[0].sample_count / 2]);
    return 0;
}
