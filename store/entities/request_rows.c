/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_rows.c - see the header.
 */
#include "store/entities/request_rows.h"

#include <stdlib.h>

#include "store/sql.h"

static int compare(const void *a, const void *b)
{
    const struct request *x = a, *y = b;
    int order = str_compare(x->account, y->account);

    return order != 0 ? order : str_compare(x->id, y->id);
}

static struct request key_of(const struct operation *operation)
{
    return (struct request){ .account = operation->account, .id = operation->in.write.request_id };
}

void request_rows_add(struct requests *requests, const struct operation *operation)
{
    struct request *item;

    if (operation->in.write.request_id.len == 0)
        return;
    item = &requests->items[requests->count++];
    *item = key_of(operation);
    item->bucket = entity_key_bucket(0, item->id);
}

void request_rows_sort(struct requests *requests)
{
    size_t kept = 0;

    if (requests->count == 0)
        return;
    qsort(requests->items, requests->count, sizeof(requests->items[0]), compare);
    for (size_t i = 1; i < requests->count; i++)
        if (compare(&requests->items[kept], &requests->items[i]) != 0)
            requests->items[++kept] = requests->items[i];
    requests->count = kept + 1;
}

struct request *request_rows_find(const struct requests *requests, const struct operation *operation)
{
    const struct request key = key_of(operation);

    if (key.id.len == 0)
        return NULL;
    return bsearch(&key, requests->items, requests->count, sizeof(key), compare);
}

/* Accounts, ids and buckets; only those that are new, or all. */
static void add_keys(
    const struct requests *requests, bool only_new, struct arena *arena, struct pg_params *params)
{
    struct pg_array accounts, ids, buckets;

    pg_array_init(&accounts, arena, PG_TEXT);
    pg_array_init(&ids, arena, PG_TEXT);
    pg_array_init(&buckets, arena, PG_INT2);
    for (size_t i = 0; i < requests->count; i++) {
        const struct request *item = &requests->items[i];

        if (only_new && !item->is_new)
            continue;
        pg_array_bytes(&accounts, item->account);
        pg_array_bytes(&ids, item->id);
        pg_array_int2(&buckets, item->bucket);
    }
    pg_params_init(params, arena);
    pg_add_array(params, &accounts);
    pg_add_array(params, &ids);
    pg_add_array(params, &buckets);
}

enum status request_rows_send_get(struct session *session, const struct requests *requests, struct error *err)
{
    struct pg_params params;

    if (requests->count == 0)
        return STATUS_OK;
    add_keys(requests, false, &session->arena, &params);
    return pg_send(&session->pg, &sql_request_get, &params, err);
}

enum request_column { REQUEST_N, REQUEST_DIGEST, REQUEST_RESPONSE };

enum status request_rows_take(struct session *session, struct requests *requests, struct error *err)
{
    PG_RESULT found = NULL;

    if (requests->count == 0)
        return STATUS_OK;
    TRY(pg_next(&session->pg, &found, err));
    for (int i = 0; i < PQntuples(found); i++)
        requests->items[pg_int8(found, i, REQUEST_N) - 1].record =
            (struct request_record){ arena_copy(&session->arena, pg_bytes(found, i, REQUEST_DIGEST)),
                arena_copy(&session->arena, pg_bytes(found, i, REQUEST_RESPONSE)) };
    return STATUS_OK;
}

void request_rows_note(
    struct request *request, const struct operation *operation, struct str digest, struct arena *arena)
{
    request->record = (struct request_record){ digest, request_record_response(operation, arena) };
    request->is_new = true;
}

enum status request_rows_send_insert(
    struct session *session, const struct requests *requests, struct error *err)
{
    struct pg_array digests, responses;
    struct pg_params params;

    pg_array_init(&digests, &session->arena, PG_BYTEA);
    pg_array_init(&responses, &session->arena, PG_BYTEA);
    for (size_t i = 0; i < requests->count; i++) {
        if (!requests->items[i].is_new)
            continue;
        pg_array_bytes(&digests, requests->items[i].record.digest);
        pg_array_bytes(&responses, requests->items[i].record.response);
    }
    if (digests.count == 0)
        return STATUS_OK;
    add_keys(requests, true, &session->arena, &params);
    pg_add_array(&params, &digests);
    pg_add_array(&params, &responses);
    return pg_send(&session->pg, &sql_request_insert, &params, err);
}
