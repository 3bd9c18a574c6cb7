/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_snapshot.c - see the header.
 */
#include "store/access/access_snapshot.h"

#include <stdlib.h>

#include "store/access/account_calls.h"
#include "store/session/catalogue_load.h"
#include "store/sql.h"

void access_snapshot_free(struct access_snapshot *book)
{
    if (!book)
        return;
    catalogue_load_free(book->catalogue);
    arena_cleanup(&book->arena);
    free(book);
}

static bool take_key(const PGresult *result, int row, int column, struct account_key *out)
{
    struct str bytes = pg_bytes(result, row, column);

    if (bytes.len != ACCOUNT_KEY_BYTES)
        return false;
    memcpy(out->bytes, bytes.data, ACCOUNT_KEY_BYTES);
    return true;
}

static enum status fill_accounts(struct access_snapshot *book, const PGresult *result, struct error *err)
{
    size_t count = (size_t)PQntuples(result);

    book->accounts = ARENA_ARRAY(&book->arena, struct account, count);
    for (size_t i = 0; i < count; i++) {
        struct account *account = &book->accounts[i];

        account->name = arena_copy(&book->arena, pg_bytes(result, (int)i, ACCOUNT_NAME));
        account->administrator = pg_bool(result, (int)i, ACCOUNT_ADMINISTRATOR);
        if (!take_key(result, (int)i, ACCOUNT_FIRST_KEY, &account->keys[0]) ||
            !take_key(result, (int)i, ACCOUNT_SECOND_KEY, &account->keys[1]))
            return error_set(
                err, STATUS_INTERNAL, "the keys of account %.*s cannot be read", STR_ARG(account->name));
    }
    book->account_count = count;
    return STATUS_OK;
}

/* The accounts after the catalogue: if they change in between, the next version brings them again. */
static enum status load(struct pg *pg, struct access_snapshot *book, struct error *err)
{
    PG_RESULT accounts = NULL;

    TRY(catalogue_load(pg, &book->catalogue, err));
    TRY(pg_query(pg, &sql_account_list, NULL, &accounts, err));
    return fill_accounts(book, accounts, err);
}

enum status access_snapshot_load(struct pg *pg, struct access_snapshot **out, struct error *err)
{
    struct access_snapshot *book = xcalloc(1, sizeof(*book));
    enum status status;

    arena_init(&book->arena);
    status = load(pg, book, err);
    if (status != STATUS_OK) {
        access_snapshot_free(book);
        return status;
    }
    *out = book;
    return STATUS_OK;
}

const struct account *access_snapshot_find(const struct access_snapshot *book, struct str name)
{
    size_t low = 0, high = book->account_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(name, book->accounts[middle].name);

        if (order == 0)
            return &book->accounts[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
