/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_rows.c - see the header.
 */
#include "store/entities/request_rows.h"

#include <stdlib.h>

#include "store/session/session.h"
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

bool request_rows_add(struct requests *requests, const struct operation *operation)
{
    struct request *item;

    if (operation->in.write.request_id.len == 0)
        return true;
    item = &requests->items[requests->count++];
    *item = key_of(operation);
    item->bucket = entity_key_bucket(0, item->id);
    if (operation->in.write.id_scope_bytes > 0)
        item->unscoped = str_of_bytes(item->id.data, item->id.len - operation->in.write.id_scope_bytes);
    return item->unscoped.len == 0;
}

bool request_rows_sort(struct requests *requests)
{
    size_t kept = 0, operations = requests->count;

    if (requests->count == 0)
        return true;
    qsort(requests->items, requests->count, sizeof(requests->items[0]), compare);
    for (size_t i = 1; i < requests->count; i++)
        if (compare(&requests->items[kept], &requests->items[i]) != 0)
            requests->items[++kept] = requests->items[i];
    requests->count = kept + 1;
    return requests->count == operations;
}

struct request *request_rows_find(const struct requests *requests, const struct operation *operation)
{
    const struct request key = key_of(operation);

    if (key.id.len == 0)
        return NULL;
    return bsearch(&key, requests->items, requests->count, sizeof(key), compare);
}

/* Add accounts, ids and buckets: of the new requests only, or of all. */
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

/*
 * Collect the requests of signatures that have an unscoped id: the id that earlier versions,
 * without scopes, would have recorded. Returns their number.
 */
static size_t unscoped_of(const struct requests *requests, struct arena *arena, struct requests *out)
{
    *out = (struct requests){ .items = ARENA_ARRAY(arena, struct request, requests->count) };
    for (size_t i = 0; i < requests->count; i++)
        if (requests->items[i].unscoped.len > 0)
            out->items[out->count++] = (struct request){ .account = requests->items[i].account,
                .id = requests->items[i].unscoped,
                .bucket = entity_key_bucket(0, requests->items[i].unscoped) };
    return out->count;
}

enum status request_rows_send_get(struct session *session, const struct requests *requests, struct error *err)
{
    struct requests unscoped;
    struct pg_params params;

    if (requests->count == 0)
        return STATUS_OK;
    add_keys(requests, false, &session->arena, &params);
    TRY(pg_send(&session->pg, &sql_request_get, &params, err));
    if (unscoped_of(requests, &session->arena, &unscoped) == 0)
        return STATUS_OK;
    add_keys(&unscoped, false, &session->arena, &params);
    return pg_send(&session->pg, &sql_request_get, &params, err);
}

enum request_column { REQUEST_N, REQUEST_DIGEST, REQUEST_RESPONSE };

static struct request_record record_in(const PGresult *found, int row, struct arena *arena)
{
    return (struct request_record){ arena_copy(arena, pg_bytes(found, row, REQUEST_DIGEST)),
        arena_copy(arena, pg_bytes(found, row, REQUEST_RESPONSE)) };
}

static enum status take_unscoped(struct session *session, struct requests *requests, struct error *err)
{
    PG_RESULT found = NULL;
    int64_t n = 0;
    int row = 0;

    TRY(pg_next(&session->pg, &found, err));
    for (size_t i = 0; i < requests->count; i++)
        if (requests->items[i].unscoped.len > 0) {
            n++;
            for (row = 0; row < PQntuples(found); row++)
                if (pg_int8(found, row, REQUEST_N) == n)
                    requests->items[i].unscoped_record = record_in(found, row, &session->arena);
        }
    return STATUS_OK;
}

enum status request_rows_take(struct session *session, struct requests *requests, struct error *err)
{
    PG_RESULT found = NULL;
    bool any_unscoped = false;

    if (requests->count == 0)
        return STATUS_OK;
    TRY(pg_next(&session->pg, &found, err));
    for (int i = 0; i < PQntuples(found); i++)
        requests->items[pg_int8(found, i, REQUEST_N) - 1].record = record_in(found, i, &session->arena);
    for (size_t i = 0; i < requests->count; i++)
        any_unscoped |= requests->items[i].unscoped.len > 0;
    return any_unscoped ? take_unscoped(session, requests, err) : STATUS_OK;
}

void request_rows_adopt(struct request *request, struct str digest)
{
    if (request->record.response.len == 0 && request->unscoped_record.response.len > 0 &&
        str_equal(request->unscoped_record.digest, digest))
        request->record = request->unscoped_record;
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
