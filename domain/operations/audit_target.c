/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_target.c - see the header. A caller may send any text as a name. A record keeps the
 * beginning of it in printable ASCII, which every valid name and id is.
 */
#include "domain/operations/audit_target.h"

#include "base/chunk_settings.h"
#include "base/macros.h"
#include "domain/account_id.h"

enum { MAX_TARGET_BYTES = 256 };

static bool is_elsewhere(const struct operation *operation, struct str account)
{
    return account.len > 0 && !str_equal(account_id_name(account), account_id_name(operation->account));
}

static bool names_another_account(const struct operation *operation)
{
    const struct transaction *transaction = &operation->in.transaction.transaction;

    for (size_t i = 0; i < transaction->step_count; i++)
        if (is_elsewhere(operation, transaction->steps[i].account) ||
            is_elsewhere(operation, transaction->steps[i].to_account))
            return true;
    return false;
}

bool audit_target_is_recorded(const struct operation *operation)
{
    if (operation->kind == OPERATION_TRANSACTION_SUBMIT)
        return names_another_account(operation);
    return operation_kind_facts(operation->kind)->is_administrative;
}

static struct str target_of_queues(const struct operation_queues *in, struct arena *arena)
{
    static const char *const actions[] = {
        [QUEUE_PAUSE] = "pause",
        [QUEUE_RESUME] = "resume",
        [QUEUE_DRAIN] = "drain",
        [QUEUE_LIMIT_RATE] = "limit-rate",
        [QUEUE_RESHARD] = "reshard",
    };
    const char *action = (size_t)in->action < ARRAY_LEN(actions) ? actions[in->action] : NULL;

    if (in->action == QUEUE_RESHARD)
        return arena_format(arena, "%d queues %s", in->queues, action);
    if (in->queue < 0)
        return arena_format(arena, "all queues %s", action ? action : "");
    return arena_format(arena, "q%d %s", in->queue, action ? action : "");
}

static struct str target_of_jobs(const struct operation_jobs *in, struct arena *arena)
{
    static const char *const controls[] = {
        [JOB_PAUSE] = "pause",
        [JOB_RESUME] = "resume",
        [JOB_CANCEL] = "cancel",
        [JOB_THROTTLE] = "throttle",
    };
    const char *control = (size_t)in->control < ARRAY_LEN(controls) ? controls[in->control] : NULL;

    return arena_format(arena, "%.*s %s", STR_ARG(in->operation_id), control ? control : "");
}

static struct str printable(struct str text, struct arena *arena)
{
    size_t len = text.len < MAX_TARGET_BYTES ? text.len : MAX_TARGET_BYTES;
    char *out = arena_alloc(arena, len + 1);

    for (size_t i = 0; i < len; i++)
        out[i] = text.data[i] < ' ' || text.data[i] > '~' ? '?' : text.data[i];
    return str_of_bytes(out, len);
}

struct str audit_target_of(const struct operation *operation, struct arena *arena)
{
    struct str target = operation->table;

    switch (operation_kind_facts(operation->kind)->input) {
    case OPERATION_IN_QUEUES:
        target = target_of_queues(&operation->in.queues, arena);
        break;
    case OPERATION_IN_JOBS:
        target = target_of_jobs(&operation->in.jobs, arena);
        break;
    case OPERATION_IN_TRANSACTION:
        target = operation->in.transaction.transaction.id;
        break;
    case OPERATION_IN_CHUNKS:
        target = str_of(chunk_settings_stores[operation->in.chunks.target]);
        break;
    case OPERATION_IN_DEAD_LETTERS: /* the store records each one by name */
    case OPERATION_IN_AUDIT:
    case OPERATION_IN_BLOB:
    case OPERATION_IN_SERVICE:
        return STR_EMPTY;
    case OPERATION_IN_GET:
    case OPERATION_IN_WRITE:
    case OPERATION_IN_PAGE:
    case OPERATION_IN_CHANGES:
    case OPERATION_IN_LOOKUP:
    case OPERATION_IN_TABLES:
    case OPERATION_IN_INDEX:
    case OPERATION_IN_VERIFY:
    case OPERATION_IN_SAMPLES:
        break;
    }
    return printable(target, arena);
}
