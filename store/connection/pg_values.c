/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg_values.c - parameters and columns in PostgreSQL's binary form: big-endian numbers, and arrays
 * that have one dimension and contain no nulls.
 */
#include <endian.h>

#include "store/connection/pg.h"

/* ---- parameters ---- */

void pg_params_init(struct pg_params *params, struct arena *arena)
{
    params->arena = arena;
    params->count = 0;
}

void pg_add_bytes(struct pg_params *params, struct str bytes)
{
    /* libpq sends a NULL pointer as SQL's null. */
    params->values[params->count] = bytes.data ? bytes.data : "";
    params->lengths[params->count++] = (int)bytes.len;
}

void pg_add_null(struct pg_params *params)
{
    params->lengths[params->count] = 0;
    params->values[params->count++] = NULL;
}

static void add_copy(struct pg_params *params, const void *bytes, size_t len)
{
    pg_add_bytes(params, arena_copy(params->arena, str_of_bytes(bytes, len)));
}

void pg_add_bool(struct pg_params *params, bool value)
{
    pg_add_bytes(params, str_of_bytes(value ? "\1" : "\0", 1));
}

void pg_add_int2(struct pg_params *params, int16_t value)
{
    uint16_t big = htobe16((uint16_t)value);

    add_copy(params, &big, sizeof(big));
}

void pg_add_int4(struct pg_params *params, int32_t value)
{
    uint32_t big = htobe32((uint32_t)value);

    add_copy(params, &big, sizeof(big));
}

void pg_add_int8(struct pg_params *params, int64_t value)
{
    uint64_t big = htobe64((uint64_t)value);

    add_copy(params, &big, sizeof(big));
}

/* The sixteen bytes of a uuid as two big-endian numbers, so that uuids sort as intent ids do. */
struct uuid {
    uint64_t us, low;
};

static struct uuid uuid_of(struct intent_id id)
{
    return (struct uuid){ htobe64(id.us), htobe64(id.low) };
}

void pg_add_intent_id(struct pg_params *params, struct intent_id id)
{
    struct uuid uuid = uuid_of(id);

    add_copy(params, &uuid, sizeof(uuid));
}

/*
 * ---- arrays: number of dimensions, whether there are nulls, element type, then length and lower
 * bound of the dimension ----
 */

enum { ARRAY_COUNT_OFFSET = 12, ARRAY_HEADER_BYTES = 20 };

static void put_int4(char *out, int32_t value)
{
    uint32_t big = htobe32((uint32_t)value);

    memcpy(out, &big, sizeof(big));
}

void pg_array_init(struct pg_array *array, struct arena *arena, enum pg_oid element)
{
    char *header;

    buf_init(&array->buf, arena);
    array->count = 0;
    header = buf_extend(&array->buf, ARRAY_HEADER_BYTES);
    put_int4(header, 1);
    put_int4(header + 4, 0);
    put_int4(header + 8, (int32_t)element);
    put_int4(header + ARRAY_COUNT_OFFSET, 0);
    put_int4(header + 16, 1);
}

void pg_array_bytes(struct pg_array *array, struct str bytes)
{
    char *out = buf_extend(&array->buf, 4 + bytes.len);

    put_int4(out, (int32_t)bytes.len);
    if (bytes.len > 0)
        memcpy(out + 4, bytes.data, bytes.len);
    array->count++;
}

void pg_array_null(struct pg_array *array)
{
    put_int4(buf_extend(&array->buf, 4), -1);
    array->count++;
}

void pg_array_bool(struct pg_array *array, bool value)
{
    pg_array_bytes(array, str_of_bytes(value ? "\1" : "\0", 1));
}

void pg_array_int2(struct pg_array *array, int16_t value)
{
    uint16_t big = htobe16((uint16_t)value);

    pg_array_bytes(array, str_of_bytes(&big, sizeof(big)));
}

void pg_array_int8(struct pg_array *array, int64_t value)
{
    uint64_t big = htobe64((uint64_t)value);

    pg_array_bytes(array, str_of_bytes(&big, sizeof(big)));
}

void pg_array_intent_id(struct pg_array *array, struct intent_id id)
{
    struct uuid uuid = uuid_of(id);

    pg_array_bytes(array, str_of_bytes(&uuid, sizeof(uuid)));
}

void pg_add_array(struct pg_params *params, struct pg_array *array)
{
    put_int4(array->buf.data + ARRAY_COUNT_OFFSET, array->count);
    pg_add_bytes(params, buf_str(&array->buf));
}

/* ---- columns ---- */

struct str pg_bytes(const PGresult *result, int row, int column)
{
    return str_of_bytes(PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column));
}

bool pg_bool(const PGresult *result, int row, int column)
{
    return PQgetvalue(result, row, column)[0] != 0;
}

int16_t pg_int2(const PGresult *result, int row, int column)
{
    uint16_t big;

    memcpy(&big, PQgetvalue(result, row, column), sizeof(big));
    return (int16_t)be16toh(big);
}

int32_t pg_int4(const PGresult *result, int row, int column)
{
    uint32_t big;

    memcpy(&big, PQgetvalue(result, row, column), sizeof(big));
    return (int32_t)be32toh(big);
}

int64_t pg_int8(const PGresult *result, int row, int column)
{
    uint64_t big;

    memcpy(&big, PQgetvalue(result, row, column), sizeof(big));
    return (int64_t)be64toh(big);
}

struct intent_id pg_intent_id(const PGresult *result, int row, int column)
{
    struct uuid uuid;

    memcpy(&uuid, PQgetvalue(result, row, column), sizeof(uuid));
    return (struct intent_id){ .us = be64toh(uuid.us), .low = be64toh(uuid.low) };
}

void pg_add_names(struct pg_params *params, const struct str *names, size_t count, bool some)
{
    struct pg_array array;

    if (!some) {
        pg_add_null(params);
        return;
    }
    pg_array_init(&array, params->arena, PG_TEXT);
    for (size_t i = 0; i < count; i++)
        pg_array_bytes(&array, names[i]);
    pg_add_array(params, &array);
}
