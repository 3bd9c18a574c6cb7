/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.c - see the header. What a kind of operation requires of its caller is the scope in its
 * row of domain/operations/operation_kinds.c; a kind without a row is refused to all callers.
 */
#include "domain/access/access.h"

#include <assert.h>

#include "domain/access/scoped_id.h"
#include "domain/catalogue/table_name.h"
#include "domain/indexes/index_shape.h"
#include "domain/limits.h"
#include "domain/reason.h"

static const char letters[] = "rauditlcw";
_Static_assert(sizeof(letters) - 1 == PERMISSION_ALL_COUNT, "a letter per permission");

static const unsigned write_needs[] = {
    [WRITE_INSERT] = PERMISSION_ADD,
    [WRITE_REPLACE] = PERMISSION_UPDATE,
    [WRITE_MERGE] = PERMISSION_UPDATE,
    [WRITE_INSERT_OR_REPLACE] = PERMISSION_ADD | PERMISSION_UPDATE,
    [WRITE_INSERT_OR_MERGE] = PERMISSION_ADD | PERMISSION_UPDATE,
    [WRITE_DELETE] = PERMISSION_DELETE,
    [WRITE_DELETE_IF_EXISTS] = PERMISSION_DELETE,
    [WRITE_EXPIRE] = PERMISSION_DELETE,
};

static const unsigned step_needs[] = {
    [STEP_INSERT_OR_REPLACE] = PERMISSION_ADD | PERMISSION_UPDATE,
    [STEP_INSERT_OR_MERGE] = PERMISSION_ADD | PERMISSION_UPDATE,
    [STEP_DELETE_IF_EXISTS] = PERMISSION_DELETE,
    [STEP_MOVE] = PERMISSION_READ | PERMISSION_DELETE, /* of the source */
};

bool access_parse_permissions_among(struct str text, unsigned among, unsigned *out)
{
    unsigned permissions = 0;
    size_t at = 0;

    for (size_t i = 0; i < PERMISSION_ALL_COUNT && at < text.len; i++)
        if ((among & 1U << i) && text.data[at] == letters[i]) {
            permissions |= 1U << i;
            at++;
        }
    if (at != text.len)
        return false;
    *out = permissions;
    return true;
}

bool access_parse_permissions(struct str text, unsigned *out)
{
    return access_parse_permissions_among(text, (1U << PERMISSION_COUNT) - 1, out);
}

struct str access_format_permissions(unsigned permissions, struct arena *arena)
{
    char *text = arena_alloc(arena, PERMISSION_COUNT);
    size_t len = 0;

    for (size_t i = 0; i < PERMISSION_COUNT; i++)
        if (permissions & 1U << i)
            text[len++] = letters[i];
    return str_of_bytes(text, len);
}

struct access access_unlimited(struct str account)
{
    return (struct access){ .account = account, .whole_account = true, .administrator = true };
}

/* ---- refusals ---- */

static enum status refuse_access(const char *why, struct error *err)
{
    return reason_set(err, REASON_AUTHORIZATION_FAILURE, "%s", why);
}

static enum status need_permissions(const struct access *access, unsigned needed, struct error *err)
{
    char missing[PERMISSION_ALL_COUNT + 1];
    size_t len = 0;

    if ((access->permissions & needed) == needed)
        return STATUS_OK;
    for (size_t i = 0; i < PERMISSION_ALL_COUNT; i++)
        if (needed & ~access->permissions & 1U << i)
            missing[len++] = letters[i];
    missing[len] = '\0';
    return reason_set(err, REASON_AUTHORIZATION_PERMISSION_MISMATCH,
        "this method needs the permission %s, which the signature does not grant", missing);
}

static enum status need_table(const struct access *access, struct str name, struct error *err)
{
    if (access->resources || table_name_is(name, access->table))
        return STATUS_OK;
    return refuse_access("the signature is for another table", err);
}

static enum status need_key(const struct access *access, const struct entity_key *key, struct error *err)
{
    if (key_range_contains(&access->range, key))
        return STATUS_OK;
    return refuse_access("the entity is outside the signature's range of keys", err);
}

/* ---- the scopes ---- */

static const struct index *index_of(
    const struct access *access, const struct catalogue *catalogue, struct str name)
{
    const struct table *table = catalogue_find(catalogue, access->account, name);

    return table ? table->entries_of : NULL;
}

static enum status check_read(const struct access *access, const struct catalogue *catalogue,
    struct operation *operation, struct error *err)
{
    const struct index *index = index_of(access, catalogue, operation->table);

    operation->signed_at = access->signed_at;
    TRY(need_table(access, operation->table, err));
    TRY(need_permissions(access, PERMISSION_READ, err));
    if (!key_range_is_bounded(&access->range))
        return STATUS_OK;
    if (index && !index_shape_rules(index->shape)->keys_divide_entities)
        return refuse_access("a signature with a range of keys cannot read this index: its pages contain "
                             "entities with any keys",
            err);
    operation->within = &access->range;
    return STATUS_OK;
}

/*
 * A condition needs the permission to read, since its outcome and the details of a failure show the
 * entity.
 */
static unsigned condition_needs(const struct condition *condition)
{
    return condition->text.len > 0 ? PERMISSION_READ : 0;
}

enum status access_check_write(const struct access *access, const struct write *write, struct error *err)
{
    if (access->whole_account)
        return STATUS_OK;
    TRY(need_permissions(access, write_needs[write->kind] | condition_needs(&write->condition), err));
    return need_key(access, &write->key, err);
}

static enum status check_writes(const struct access *access, struct operation *operation, struct error *err)
{
    struct operation_write *in = &operation->in.write;

    operation->signed_at = access->signed_at;
    in->may_read = (access->permissions & PERMISSION_READ) != 0;
    operation->within = key_range_is_bounded(&access->range) ? &access->range : NULL;
    TRY(need_table(access, operation->table, err));
    for (size_t i = 0; i < in->count; i++) {
        enum status status = access_check_write(access, &in->writes[i], err);

        if (status == STATUS_OK)
            continue;
        if (in->is_group)
            error_add_meta_int(err, "operation_index", (int64_t)i);
        return status;
    }
    return STATUS_OK;
}

static enum status check_look_up(const struct access *access, const struct catalogue *catalogue,
    struct operation *operation, struct error *err)
{
    const struct index *index = index_of(access, catalogue, operation->table);

    operation->signed_at = access->signed_at;
    /* checked first, since a signature with a range must not learn which indexes exist */
    if (key_range_is_bounded(&access->range))
        return refuse_access(
            "a signature with a range of keys cannot use LookupIndex: an index spans all keys", err);
    if (!index)
        return refuse_access("the signature is for a table without such an index", err);
    TRY(need_table(access, index->source_name, err));
    return need_permissions(access, PERMISSION_READ | PERMISSION_LOOK_UP, err);
}

/* What is outside the tables belongs to the account as a whole: no signature is for it. */
static enum status check_step(const struct access *access, const struct step *step, struct error *err)
{
    if (transaction_step_is_effect(step))
        return refuse_access("a step outside the tables needs a token of the account: a shared access "
                             "signature is for a table",
            err);
    TRY(need_table(access, step->table, err));
    TRY(need_permissions(access, step_needs[step->kind] | condition_needs(&step->condition), err));
    TRY(need_key(access, &step->key, err));
    if (step->kind != STEP_MOVE)
        return STATUS_OK;
    TRY(need_table(access, step->to_table, err));
    TRY(need_permissions(access, PERMISSION_ADD | PERMISSION_UPDATE, err));
    return need_key(access, &step->to_key, err);
}

static enum status need_age(const struct access *access, const struct catalogue *catalogue, struct error *err)
{
    const struct table *table = catalogue_find(catalogue, access->account, access->table);

    if (table && (!access->signed_at || table->signatures_from <= access->signed_at))
        return STATUS_OK;
    return refuse_access("the signature's table does not exist, or was created after the signature", err);
}

/*
 * Append the signature's mark to the id, so that the signature reaches its own transactions only.
 */
static enum status check_own_transaction(const struct access *access, const struct catalogue *catalogue,
    const struct operation *operation, struct error *err)
{
    (void)operation;
    TRY(need_permissions(access, PERMISSION_READ | PERMISSION_TRANSACT, err));
    return need_age(access, catalogue, err);
}

/*
 * Steps run later, without a check of the table's age, so the age is checked now; the store checks
 * it again when it submits the transaction.
 */
static enum status check_steps(const struct access *access, const struct catalogue *catalogue,
    struct operation *operation, struct error *err)
{
    const struct transaction *transaction = &operation->in.transaction.transaction;

    operation->signed_at = access->signed_at;
    TRY(need_permissions(access, PERMISSION_TRANSACT, err));
    TRY(need_age(access, catalogue, err));
    for (size_t i = 0; i < transaction->step_count; i++)
        TRY(check_step(access, &transaction->steps[i], err));
    return STATUS_OK;
}

static bool is_elsewhere(const struct access *access, struct str account)
{
    return account.len > 0 && !str_equal(account, access->account);
}

/* Steps may name other accounts only if their submitter administers the service. */
static enum status check_accounts(
    const struct access *access, const struct operation *operation, struct error *err)
{
    const struct transaction *transaction = &operation->in.transaction.transaction;

    for (size_t i = 0; i < transaction->step_count && !access->administrator; i++)
        if (is_elsewhere(access, transaction->steps[i].account) ||
            is_elsewhere(access, transaction->steps[i].to_account)) {
            refuse_access("a step names another account", err);
            error_add_meta_int(err, "operation_index", (int64_t)i);
            return STATUS_DENIED;
        }
    return STATUS_OK;
}

static enum operation_scope scope_of(const struct operation *operation)
{
    if (operation->kind == OPERATION_TABLE_GET && operation->in.tables.names_only)
        return OPERATION_SCOPE_LIST_TABLES;
    return operation_kind_facts(operation->kind)->scope;
}

/*
 * What an account signature must allow for a scope: one of the resources and, if any are named, one
 * of the permissions.
 */
struct account_needs {
    unsigned resources;
    unsigned permissions;
};

static const struct account_needs account_needs[] = {
    [OPERATION_SCOPE_READ] = { RESOURCE_OBJECT, 0 },
    [OPERATION_SCOPE_WRITE] = { RESOURCE_OBJECT, 0 },
    [OPERATION_SCOPE_LIST_TABLES] = { RESOURCE_SERVICE | RESOURCE_CONTAINER, PERMISSION_LIST },
    [OPERATION_SCOPE_CREATE_TABLE] = { RESOURCE_CONTAINER, PERMISSION_CREATE | PERMISSION_SET },
    [OPERATION_SCOPE_DELETE_TABLE] = { RESOURCE_CONTAINER, PERMISSION_DELETE },
    [OPERATION_SCOPE_READ_SERVICE] = { RESOURCE_SERVICE, PERMISSION_READ },
    [OPERATION_SCOPE_SET_SERVICE] = { RESOURCE_SERVICE, PERMISSION_SET },
    [OPERATION_SCOPE_COUNT - 1] = { 0, 0 },
};

static enum status check_account_signature(
    const struct access *access, enum operation_scope scope, struct error *err)
{
    const struct account_needs *needs = &account_needs[scope];

    if (!needs->resources)
        return refuse_access("an account signature does not allow this method", err);
    if (!(access->resources & needs->resources))
        return reason_set(err, REASON_AUTHORIZATION_RESOURCE_TYPE_MISMATCH,
            "the account signature is not for resources of this type");
    if (!needs->permissions || (access->permissions & needs->permissions))
        return STATUS_OK;
    return need_permissions(access, needs->permissions, err);
}

static enum status check_signature(const struct access *access, const struct catalogue *catalogue,
    struct operation *operation, struct error *err)
{
    enum operation_scope scope = scope_of(operation);

    if (access->resources)
        TRY(check_account_signature(access, scope, err));
    switch (scope) {
    case OPERATION_SCOPE_READ:
        return check_read(access, catalogue, operation, err);
    case OPERATION_SCOPE_WRITE:
        return check_writes(access, operation, err);
    case OPERATION_SCOPE_LOOK_UP:
        return check_look_up(access, catalogue, operation, err);
    case OPERATION_SCOPE_STEPS:
        return check_steps(access, catalogue, operation, err);
    case OPERATION_SCOPE_OWN_TRANSACTION:
        return check_own_transaction(access, catalogue, operation, err);
    case OPERATION_SCOPE_LIST_TABLES:
    case OPERATION_SCOPE_CREATE_TABLE:
    case OPERATION_SCOPE_DELETE_TABLE:
    case OPERATION_SCOPE_READ_SERVICE:
    case OPERATION_SCOPE_SET_SERVICE:
        if (access->resources)
            return STATUS_OK;
        break;
    case OPERATION_SCOPE_ACCOUNT:
    case OPERATION_SCOPE_ADMINISTRATOR:
    case OPERATION_SCOPE_NONE:
    case OPERATION_SCOPE_COUNT:
        break;
    }
    return refuse_access("a shared access signature does not allow this method", err);
}

/* Append the signature's mark to the ids that the caller has chosen. */
static void scope_ids(const struct access *access, struct operation *operation)
{
    enum operation_input input = operation_kind_facts(operation->kind)->input;
    struct str *id = input == OPERATION_IN_WRITE         ? &operation->in.write.request_id
                     : input == OPERATION_IN_TRANSACTION ? &operation->in.transaction.transaction.id
                                                         : NULL;

    if (!id || id->len == 0)
        return;
    *id = scoped_id_make(
        *id, scoped_id_mark(access->table, &access->range, operation->arena), operation->arena);
    if (input == OPERATION_IN_WRITE)
        operation->in.write.id_scope_bytes = LIMIT_ID_SCOPE_BYTES;
    else
        operation->in.transaction.id_scope_bytes = LIMIT_ID_SCOPE_BYTES;
}

enum status access_check(const struct access *access, const struct catalogue *catalogue,
    struct operation *operation, struct error *err)
{
    enum operation_scope scope = scope_of(operation);

    assert(str_equal(operation->account, access->account) && "an operation runs as its caller");
    if (scope == OPERATION_SCOPE_STEPS)
        TRY(check_accounts(access, operation, err));
    if (operation->wait_for_transaction.len > 0 && !access->whole_account)
        TRY(need_permissions(access, PERMISSION_TRANSACT, err));
    if (!access->whole_account) {
        if (operation->kind == OPERATION_PAGE && operation->in.page.snapshot)
            return refuse_access(
                "a signature gives no snapshot of a scan, because an account has one at once", err);
        TRY(check_signature(access, catalogue, operation, err));
        scope_ids(access, operation);
        return STATUS_OK;
    }
    if (scope == OPERATION_SCOPE_WRITE)
        operation->in.write.may_read = true;
    if (scope == OPERATION_SCOPE_ADMINISTRATOR && !access->administrator)
        return refuse_access("this method needs an account that administers the service", err);
    return scope == OPERATION_SCOPE_NONE ? refuse_access("no caller may run this operation", err) : STATUS_OK;
}
