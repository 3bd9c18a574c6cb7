/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_calls.c - see the header. A change of an account needs no write fence, like the creation
 * of a table: no write is planned from accounts.
 */
#include "store/access/account_calls.h"

#include <string.h>
#include <sys/random.h>

#include "base/random.h"
#include "domain/limits.h"
#include "domain/ticks.h"
#include "store/session/audit_row.h"
#include "store/session/catalogue_load.h"
#include "store/sql.h"

static enum status make_random(uint8_t *out, size_t bytes, struct error *err)
{
    if (getrandom(out, bytes, 0) != (ssize_t)bytes)
        return error_set(err, STATUS_INTERNAL, "the system returned no random numbers for an account key");
    return STATUS_OK;
}

/* Add the stored form of an account key as a parameter. */
static enum status add_key(const struct wrapping_keys *wrapping_keys, struct str account,
    const struct account_key *key, struct pg_params *params, struct error *err)
{
    uint8_t nonce[WRAP_NONCE_BYTES];

    TRY(make_random(nonce, sizeof(nonce), err));
    pg_add_bytes(params, key_wrap_seal(wrapping_keys, account, key, nonce, params->arena));
    return STATUS_OK;
}

/*
 * A statement that returns a row if it has changed an account, and the command that the audit log
 * names.
 */
struct account_change {
    const struct embedded *sql;
    const char *command;
    struct str name; /* of the account */
};

static struct audit_record record_of(const struct account_change *change)
{
    return (struct audit_record){ .call_id = (int64_t)(random_bits() >> 1),
        .account = STR_EMPTY,
        .credential = AUDIT_CREDENTIAL_DATABASE,
        .method = str_of(change->command),
        .target = change->name,
        .outcome = STR_LITERAL("OK") };
}

/*
 * Run the statement. If it has changed an account, raise the catalogue's version, write the audit
 * record and commit; otherwise roll back.
 */
static enum status run_change(struct pg *pg, const struct account_change *change,
    const struct pg_params *params, bool *changed, struct error *err)
{
    struct audit_record record = record_of(change);
    PG_RESULT row = NULL;

    TRY(pg_ensure(pg, err));
    TRY(pg_send(pg, &sql_begin, NULL, err));
    TRY(pg_send(pg, change->sql, params, err));
    TRY(pg_sync(pg, err));
    TRY(pg_done(pg, err));
    TRY(pg_next(pg, &row, err));
    TRY(pg_end(pg, err));
    *changed = PQntuples(row) == 1;
    if (*changed) {
        TRY(catalogue_load_send_bump(pg, CHANGED_ACCOUNTS, err));
        TRY(audit_row_send(pg, &record, params->arena, err));
    }
    TRY(pg_send(pg, *changed ? &sql_commit : &sql_rollback, NULL, err));
    TRY(pg_sync(pg, err));
    return pg_end(pg, err);
}

static const char *command_of_creation(const struct account *account)
{
    return account->administrator ? "account create --administrator" : "account create";
}

enum status account_calls_create(struct pg *pg, const struct wrapping_keys *wrapping_keys,
    struct account *account, struct arena *arena, struct error *err)
{
    struct pg_params params;
    bool created = false;

    if (!account_name_is_valid(account->name))
        return error_set(err, STATUS_INVALID, "an account's name has %d to %d lower-case letters and digits",
            LIMIT_ACCOUNT_NAME_MIN, LIMIT_ACCOUNT_NAME_MAX);
    pg_params_init(&params, arena);
    pg_add_bytes(&params, account->name);
    pg_add_bool(&params, account->administrator);
    for (size_t i = 0; i < ACCOUNT_KEYS; i++) {
        TRY(make_random(account->keys[i].bytes, ACCOUNT_KEY_BYTES, err));
        TRY(add_key(wrapping_keys, account->name, &account->keys[i], &params, err));
    }
    TRY(run_change(pg,
        &(struct account_change){ &sql_account_insert, command_of_creation(account), account->name }, &params,
        &created, err));
    if (created)
        return STATUS_OK;
    return error_set(err, STATUS_EXISTS, "account %.*s already exists", STR_ARG(account->name));
}

enum status account_calls_list(
    struct pg *pg, struct arena *arena, struct account_view **out, size_t *count, struct error *err)
{
    PG_RESULT rows = NULL;

    TRY(pg_ensure(pg, err));
    TRY(pg_query(pg, &sql_account_list, NULL, &rows, err));
    *count = (size_t)PQntuples(rows);
    *out = ARENA_ARRAY(arena, struct account_view, *count);
    for (size_t i = 0; i < *count; i++) {
        struct account_view *view = &(*out)[i];

        view->name = arena_copy(arena, pg_bytes(rows, (int)i, ACCOUNT_NAME));
        view->administrator = pg_bool(rows, (int)i, ACCOUNT_ADMINISTRATOR);
        view->created = ticks_from_unix_us(pg_int8(rows, (int)i, ACCOUNT_CREATED));
        view->rotated = ticks_from_unix_us(pg_int8(rows, (int)i, ACCOUNT_ROTATED));
    }
    return STATUS_OK;
}

enum status account_calls_rotate(struct pg *pg, const struct wrapping_keys *wrapping_keys, struct str name,
    struct arena *arena, struct account_key *key, struct error *err)
{
    struct pg_params params;
    bool rotated = false;

    TRY(make_random(key->bytes, ACCOUNT_KEY_BYTES, err));
    pg_params_init(&params, arena);
    pg_add_bytes(&params, name);
    TRY(add_key(wrapping_keys, name, key, &params, err));
    TRY(run_change(pg, &(struct account_change){ &sql_account_rotate, "account rotate-key", name }, &params,
        &rotated, err));
    if (rotated)
        return STATUS_OK;
    return error_set(err, STATUS_NOT_FOUND, "there is no account %.*s", STR_ARG(name));
}

/*
 * The wrapping keys of account_calls_rewrap: `keys` opens the stored account keys, `target` wraps
 * them.
 */
struct rewrap {
    const struct wrapping_keys *keys, *target;
};

/* STATUS_STALE: another program has changed the account's keys since the row was read. */
static enum status rewrap_account(struct pg *pg, const struct rewrap *rewrap, const PGresult *rows, int row,
    struct arena *arena, struct error *err)
{
    struct str name = arena_copy(arena, pg_bytes(rows, row, ACCOUNT_NAME));
    struct pg_params params;
    bool changed = false;

    pg_params_init(&params, arena);
    pg_add_bytes(&params, name);
    for (int i = 0; i < ACCOUNT_KEYS; i++) {
        struct account_key key;

        TRY(key_wrap_open(rewrap->keys, name, pg_bytes(rows, row, ACCOUNT_FIRST_KEY + i), &key, err));
        TRY(add_key(rewrap->target, name, &key, &params, err));
        explicit_bzero(&key, sizeof(key));
    }
    for (int i = 0; i < ACCOUNT_KEYS; i++)
        pg_add_bytes(&params, pg_bytes(rows, row, ACCOUNT_FIRST_KEY + i));
    TRY(run_change(
        pg, &(struct account_change){ &sql_account_rewrap, "account rewrap", name }, &params, &changed, err));
    if (changed)
        return STATUS_OK;
    return error_set(
        err, STATUS_STALE, "account %.*s was changed meanwhile: run the command again", STR_ARG(name));
}

static bool is_current(const struct wrapping_keys *target, const PGresult *rows, int row)
{
    return key_wrap_is_current(target, pg_bytes(rows, row, ACCOUNT_FIRST_KEY)) &&
           key_wrap_is_current(target, pg_bytes(rows, row, ACCOUNT_SECOND_KEY));
}

enum status account_calls_rewrap(struct pg *pg, const struct wrapping_keys *keys,
    const struct wrapping_keys *target, struct arena *arena, int64_t *count, struct error *err)
{
    const struct rewrap rewrap = { keys, target };
    PG_RESULT rows = NULL;

    *count = 0;
    TRY(pg_ensure(pg, err));
    TRY(pg_query(pg, &sql_account_list, NULL, &rows, err));
    for (int i = 0; i < PQntuples(rows); i++) {
        if (is_current(target, rows, i))
            continue;
        TRY(rewrap_account(pg, &rewrap, rows, i, arena, err));
        ++*count;
    }
    return STATUS_OK;
}

enum status account_calls_set_quota(struct pg *pg, struct str name, int64_t max_entities, int64_t max_bytes,
    struct arena *arena, struct error *err)
{
    struct pg_params params;
    bool changed = false;

    pg_params_init(&params, arena);
    pg_add_bytes(&params, name);
    pg_add_int8(&params, max_entities);
    pg_add_int8(&params, max_bytes);
    TRY(run_change(pg, &(struct account_change){ &sql_account_set_quota, "account set-quota", name }, &params,
        &changed, err));
    if (changed)
        return STATUS_OK;
    return error_set(err, STATUS_NOT_FOUND, "there is no account %.*s", STR_ARG(name));
}

enum status account_calls_delete(struct pg *pg, struct str name, struct arena *arena, struct error *err)
{
    struct pg_params params;
    bool deleted = false;

    pg_params_init(&params, arena);
    pg_add_bytes(&params, name);
    TRY(run_change(
        pg, &(struct account_change){ &sql_account_delete, "account delete", name }, &params, &deleted, err));
    if (deleted)
        return STATUS_OK;
    return error_set(err, STATUS_NOT_FOUND,
        "account %.*s does not exist, or has tables or blobs: delete these first", STR_ARG(name));
}
