/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction_calls.c - see the header.
 */
#include "tests/support/transaction_calls.h"

#include <check.h>

#include "store/transactions/transaction_calls.h"
#include "store/transactions/transaction_work.h"
#include "tests/support/calls.h"

struct step step_put(struct arena *arena, const char *table, const char *row, const char *value)
{
    return (struct step){ .kind = STEP_INSERT_OR_REPLACE,
        .table = str_of(table),
        .key = call_key("p", row),
        .properties = call_value(arena, value) };
}

struct step step_delete(const char *table, const char *row)
{
    return (struct step){ .kind = STEP_DELETE_IF_EXISTS, .table = str_of(table), .key = call_key("p", row) };
}

struct step step_move(const char *table, const char *row, const char *to_table, const char *to_row)
{
    return (struct step){ .kind = STEP_MOVE,
        .table = str_of(table),
        .key = call_key("p", row),
        .to_table = str_of(to_table),
        .to_key = call_key("q", to_row) };
}

static void ignore(void *context, const struct intent *intents, size_t count)
{
    (void)context;
    (void)intents;
    (void)count;
}

struct operation *transaction_submitted(struct session *session, struct arena *arena,
    const struct commit_observer *observer, const char *id, struct step *steps, size_t count)
{
    const struct commit_observer ignored = { .intents_committed = ignore };
    struct operation *operation = call_make(arena, OPERATION_TRANSACTION_SUBMIT, "");

    operation->in.transaction.transaction = (struct transaction){
        .id = str_of(id), .account = operation->account, .steps = steps, .step_count = count
    };
    transaction_calls_submit(session, operation, observer ? observer : &ignored);
    arena_cleanup(&session->arena);
    return operation;
}

struct transaction transaction_seen(struct world *world, const char *id)
{
    struct operation *operation = call_make(&world->arena, OPERATION_TRANSACTION_GET, "");

    operation->in.transaction.transaction.id = str_of(id);
    transaction_calls_get(&world->writer, operation);
    arena_cleanup(&world->writer.arena);
    call_succeeded(operation);
    return operation->out.transaction.transactions[0];
}

bool transaction_step(struct worker *worker, const char *id)
{
    struct intent intent = { .bucket = transaction_calls_bucket(str_of(id)),
        .kind = INTENT_TRANSACTION,
        .key = { STR_LITERAL("acme"), str_of(id) } };
    struct error err = { 0 };
    bool finished = false;

    ck_assert_msg(
        transaction_work_step(worker, &intent, NULL, &finished, &err) == STATUS_OK, "step: %s", err.message);
    return finished;
}

void transaction_run(struct world *world, const char *id)
{
    for (int i = 0; i < 200; i++)
        if (transaction_step(world->worker, id))
            return;
    ck_abort_msg("%s does not end", id);
}

void transaction_attempted(
    const struct transaction *transaction, size_t i, enum status status, const char *reason)
{
    ck_assert_uint_gt(transaction->attempt_count, i);
    ck_assert_msg(str_equal(transaction->timeline[i].reason, str_of(reason)),
        "attempt %zu: reason %.*s, not %s", i, STR_ARG(transaction->timeline[i].reason), reason);
    ck_assert_int_eq(transaction->timeline[i].status, status);
}
