/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_snapshot.c - see the header.
 */
#include "store/access/access_snapshot.h"

#include <stdlib.h>

#include "store/access/account_calls.h"
#include "store/session/session.h"
#include "store/sql.h"

static struct account_usage take_usage(const PGresult *result, int row)
{
    return (struct account_usage){ .entities = pg_int8(result, row, ACCOUNT_ENTITIES),
        .bytes = pg_int8(result, row, ACCOUNT_BYTES),
        .max_entities = pg_int8(result, row, ACCOUNT_MAX_ENTITIES),
        .max_bytes = pg_int8(result, row, ACCOUNT_MAX_BYTES) };
}

static enum status fill_accounts(
    struct account_list *list, const PGresult *result, const struct wrapping_keys *keys, struct error *err)
{
    size_t count = (size_t)PQntuples(result);

    list->accounts = ARENA_ARRAY(&list->arena, struct account, count);
    for (size_t i = 0; i < count; i++) {
        struct account *account = &list->accounts[i];

        account->name = arena_copy(&list->arena, pg_bytes(result, (int)i, ACCOUNT_NAME));
        account->id = arena_copy(&list->arena, pg_bytes(result, (int)i, ACCOUNT_ID));
        account->administrator = pg_bool(result, (int)i, ACCOUNT_ADMINISTRATOR);
        account->usage = take_usage(result, (int)i);
        for (int key = 0; key < ACCOUNT_KEYS; key++)
            TRY(key_wrap_open(keys, account->name, pg_bytes(result, (int)i, ACCOUNT_FIRST_KEY + key),
                &account->keys[key], err));
    }
    list->count = count;
    return STATUS_OK;
}

enum service_column { SERVICE_ACCOUNT, SERVICE_PROPERTIES };

static enum status fill_services(struct account_list *list, struct pg *pg, struct error *err)
{
    PG_RESULT rows = NULL;

    TRY(pg_query(pg, &sql_service_properties_list, NULL, &rows, err));
    list->service_count = (size_t)PQntuples(rows);
    list->services = ARENA_ARRAY(&list->arena, struct account_service, list->service_count);
    for (size_t i = 0; i < list->service_count; i++) {
        struct account_service *service = &list->services[i];

        service->account = arena_copy(&list->arena, pg_bytes(rows, (int)i, SERVICE_ACCOUNT));
        if (!service_properties_decode(arena_copy(&list->arena, pg_bytes(rows, (int)i, SERVICE_PROPERTIES)),
                &list->arena, &service->properties))
            return error_set(err, STATUS_INTERNAL, "the settings of the table service of %.*s cannot be read",
                STR_ARG(service->account));
    }
    return STATUS_OK;
}

enum status account_list_load(
    struct pg *pg, const struct wrapping_keys *keys, struct account_list **out, struct error *err)
{
    PG_RESULT rows = NULL;
    struct account_list *list;
    enum status status;

    TRY(pg_query(pg, &sql_account_list, NULL, &rows, err));
    list = xcalloc(1, sizeof(*list));
    atomic_init(&list->references, 1);
    arena_init(&list->arena);
    status = fill_accounts(list, rows, keys, err);
    if (status == STATUS_OK)
        status = fill_services(list, pg, err);
    if (status == STATUS_OK)
        *out = list;
    else
        account_list_release(list);
    return status;
}

void account_list_release(struct account_list *list)
{
    if (!list || atomic_fetch_sub(&list->references, 1) > 1)
        return;
    arena_cleanup(&list->arena);
    free(list);
}

struct access_snapshot *access_snapshot_new(struct account_list *accounts, const struct catalogue *catalogue)
{
    struct access_snapshot *snapshot = xcalloc(1, sizeof(*snapshot));

    atomic_fetch_add(&accounts->references, 1);
    snapshot->accounts = accounts;
    snapshot->catalogue = catalogue_retain(catalogue);
    return snapshot;
}

void access_snapshot_free(struct access_snapshot *snapshot)
{
    if (!snapshot)
        return;
    account_list_release(snapshot->accounts);
    catalogue_release(snapshot->catalogue);
    free(snapshot);
}

const struct account *access_snapshot_find(const struct access_snapshot *snapshot, struct str name)
{
    const struct account_list *list = snapshot->accounts;
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(name, list->accounts[middle].name);

        if (order == 0)
            return &list->accounts[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct service_properties *access_snapshot_service(
    const struct access_snapshot *snapshot, struct str account_id)
{
    const struct account_list *list = snapshot->accounts;

    for (size_t i = 0; i < list->service_count; i++)
        if (str_equal(list->services[i].account, account_id))
            return &list->services[i].properties;
    return NULL;
}
