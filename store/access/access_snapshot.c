/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_snapshot.c - see the header.
 */
#include "store/access/access_snapshot.h"

#include <stdlib.h>

#include "store/access/account_calls.h"
#include "store/session/catalogue_load.h"
#include "store/sql.h"

void access_snapshot_free(struct access_snapshot *snapshot)
{
    if (!snapshot)
        return;
    catalogue_load_free(snapshot->catalogue);
    arena_cleanup(&snapshot->arena);
    free(snapshot);
}

static bool take_key(const PGresult *result, int row, int column, struct account_key *out)
{
    struct str bytes = pg_bytes(result, row, column);

    if (bytes.len != ACCOUNT_KEY_BYTES)
        return false;
    memcpy(out->bytes, bytes.data, ACCOUNT_KEY_BYTES);
    return true;
}

static enum status fill_accounts(struct access_snapshot *snapshot, const PGresult *result, struct error *err)
{
    size_t count = (size_t)PQntuples(result);

    snapshot->accounts = ARENA_ARRAY(&snapshot->arena, struct account, count);
    for (size_t i = 0; i < count; i++) {
        struct account *account = &snapshot->accounts[i];

        account->name = arena_copy(&snapshot->arena, pg_bytes(result, (int)i, ACCOUNT_NAME));
        account->id = arena_copy(&snapshot->arena, pg_bytes(result, (int)i, ACCOUNT_ID));
        account->administrator = pg_bool(result, (int)i, ACCOUNT_ADMINISTRATOR);
        if (!take_key(result, (int)i, ACCOUNT_FIRST_KEY, &account->keys[0]) ||
            !take_key(result, (int)i, ACCOUNT_SECOND_KEY, &account->keys[1]))
            return error_set(
                err, STATUS_INTERNAL, "the keys of account %.*s cannot be read", STR_ARG(account->name));
    }
    snapshot->account_count = count;
    return STATUS_OK;
}

/* The accounts after the catalogue: if they change in between, the next version brings them again. */
static enum status load(struct pg *pg, struct access_snapshot *snapshot, struct error *err)
{
    PG_RESULT accounts = NULL;

    TRY(catalogue_load(pg, &snapshot->catalogue, err));
    TRY(pg_query(pg, &sql_account_list, NULL, &accounts, err));
    return fill_accounts(snapshot, accounts, err);
}

enum status access_snapshot_load(struct pg *pg, struct access_snapshot **out, struct error *err)
{
    struct access_snapshot *snapshot = xcalloc(1, sizeof(*snapshot));
    enum status status;

    arena_init(&snapshot->arena);
    status = load(pg, snapshot, err);
    if (status != STATUS_OK) {
        access_snapshot_free(snapshot);
        return status;
    }
    *out = snapshot;
    return STATUS_OK;
}

const struct account *access_snapshot_find(const struct access_snapshot *snapshot, struct str name)
{
    size_t low = 0, high = snapshot->account_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(name, snapshot->accounts[middle].name);

        if (order == 0)
            return &snapshot->accounts[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
