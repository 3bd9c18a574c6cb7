/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_usage.c - see the header.
 */
#include "domain/access/account_usage.h"

#include "domain/reason.h"

/* What an operation may add to an account's usage. */
enum growth {
    GROWTH_NONE,
    GROWTH_BYTES, /* no entity is added, but an existing one may become larger */
    GROWTH_ENTITIES,
};

int64_t account_usage_max_entities(const struct account_usage *usage, const struct quotas *settings)
{
    return usage->max_entities == QUOTA_OF_SETTINGS ? settings->entities : usage->max_entities;
}

int64_t account_usage_max_bytes(const struct account_usage *usage, const struct quotas *settings)
{
    return usage->max_bytes == QUOTA_OF_SETTINGS ? settings->bytes : usage->max_bytes;
}

static enum growth growth_of_write(enum write_kind kind)
{
    switch (kind) {
    case WRITE_INSERT:
    case WRITE_INSERT_OR_REPLACE:
    case WRITE_INSERT_OR_MERGE:
        return GROWTH_ENTITIES;
    case WRITE_REPLACE:
    case WRITE_MERGE:
        return GROWTH_BYTES;
    case WRITE_DELETE:
    case WRITE_DELETE_IF_EXISTS:
    case WRITE_EXPIRE:
        break;
    }
    return GROWTH_NONE;
}

static enum growth growth_of_writes(const struct operation_write *in)
{
    enum growth max_growth = GROWTH_NONE;

    for (size_t i = 0; i < in->count && max_growth < GROWTH_ENTITIES; i++)
        if (growth_of_write(in->writes[i].kind) > max_growth)
            max_growth = growth_of_write(in->writes[i].kind);
    return max_growth;
}

static enum growth growth_of_step(enum step_kind kind)
{
    if (kind == STEP_INSERT_OR_REPLACE || kind == STEP_INSERT_OR_MERGE)
        return GROWTH_ENTITIES;
    return kind == STEP_PUT_BLOB ? GROWTH_BYTES : GROWTH_NONE;
}

static enum growth growth_of_steps(const struct transaction *transaction)
{
    enum growth max_growth = GROWTH_NONE;

    for (size_t i = 0; i < transaction->step_count && max_growth < GROWTH_ENTITIES; i++)
        if (growth_of_step(transaction->steps[i].kind) > max_growth)
            max_growth = growth_of_step(transaction->steps[i].kind);
    return max_growth;
}

static enum growth growth_of(const struct operation *operation)
{
    switch ((int)operation->kind) {
    case OPERATION_WRITE:
        return growth_of_writes(&operation->in.write);
    case OPERATION_TRANSACTION_SUBMIT:
        return growth_of_steps(&operation->in.transaction.transaction);
    case OPERATION_INDEX_CREATE:
    case OPERATION_INDEX_REPLACE:
    case OPERATION_BLOB_BEGIN:
    case OPERATION_BLOB_APPEND:
    case OPERATION_BLOB_COMMIT:
        return GROWTH_BYTES;
    default:
        return GROWTH_NONE;
    }
}

static enum status refuse_more(const char *what, int64_t actual, int64_t limit, struct error *err)
{
    reason_set(err, REASON_QUOTA_EXCEEDED,
        "the account held %lld %s at the last count, allowed are %lld: deletes are accepted",
        (long long)actual, what, (long long)limit);
    error_add_meta(err, "what", str_of(what));
    error_add_meta_int(err, "limit", limit);
    error_add_meta_int(err, "actual", actual);
    return err->status;
}

enum status account_usage_admit_bytes(
    const struct account_usage *usage, const struct quotas *settings, struct error *err)
{
    int64_t max_bytes = account_usage_max_bytes(usage, settings);

    if (max_bytes == QUOTA_NONE || usage->bytes < max_bytes)
        return STATUS_OK;
    return refuse_more("bytes", usage->bytes, max_bytes, err);
}

enum status account_usage_admit(const struct account_usage *usage, const struct quotas *settings,
    const struct operation *operation, struct error *err)
{
    int64_t max_entities = account_usage_max_entities(usage, settings);
    int64_t max_bytes = account_usage_max_bytes(usage, settings);
    bool has_entities = max_entities == QUOTA_NONE || usage->entities < max_entities;
    bool has_bytes = max_bytes == QUOTA_NONE || usage->bytes < max_bytes;

    if (has_entities && has_bytes)
        return STATUS_OK;
    if (!has_bytes && growth_of(operation) >= GROWTH_BYTES)
        return refuse_more("bytes", usage->bytes, max_bytes, err);
    if (!has_entities && growth_of(operation) == GROWTH_ENTITIES)
        return refuse_more("entities", usage->entities, max_entities, err);
    return STATUS_OK;
}
