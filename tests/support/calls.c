/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - see the header.
 */
#include "tests/support/calls.h"

#include <check.h>

#include "store/entities/read_batch.h"
#include "store/entities/write_batch.h"

struct operation *call_make(struct arena *arena, enum operation_kind kind, const char *table)
{
    struct operation *operation = ARENA_NEW(arena, struct operation);

    operation->kind = kind;
    operation->account = STR_LITERAL("acme");
    operation->table = str_of(table);
    operation->arena = arena;
    operation->deadline_us = INT64_MAX;
    return operation;
}

void call_succeeded(const struct operation *operation)
{
    ck_assert_msg(operation->status == STATUS_OK, "%s: %s", status_name(operation->status),
        operation->error ? operation->error->message : "");
}

void call_failed(const struct operation *operation, const char *reason)
{
    ck_assert_msg(operation->status != STATUS_OK, "it succeeded, without %s", reason);
    ck_assert_str_eq(operation->error->reason, reason);
}

struct entity_key call_key(const char *partition, const char *row)
{
    return (struct entity_key){ str_of(partition), str_of(row) };
}

struct property_list call_value(struct arena *arena, const char *value)
{
    struct value text = { .type = PROPERTY_STRING, .bytes = str_of(value) };
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };

    buf_init(&out, arena);
    if (value)
        property_build(&builder, STR_LITERAL("Value"), &text);
    return (struct property_list){ buf_str(&out) };
}

static void ignore(void *context, const struct intent *intents, size_t count)
{
    (void)context;
    (void)intents;
    (void)count;
}

struct operation *call_write(struct session *session, struct arena *arena, enum write_kind kind,
    const char *table, struct entity_key key, const char *value)
{
    struct commit_observer observer = { .intents_committed = ignore };
    struct operation *operation = call_make(arena, OPERATION_WRITE, table);
    struct write *write = ARENA_NEW(arena, struct write);

    *write = (struct write){ .kind = kind, .key = key, .properties = call_value(arena, value) };
    operation->in.write = (struct operation_write){ .writes = write, .count = 1, .atomic = true };
    write_batch_run(session, operation, &observer);
    arena_cleanup(&session->arena);
    return operation;
}

const char *call_read(struct session *session, struct arena *arena, const char *table, struct entity_key key)
{
    struct operation *operation = call_make(arena, OPERATION_GET, table);
    struct property property;

    operation->in.get = (struct operation_get){ .keys = &key, .count = 1 };
    read_batch_run(session, operation, NULL);
    arena_cleanup(&session->arena);
    call_succeeded(operation);
    if (!operation->out.get.found[0])
        return NULL;
    if (!property_find(operation->out.get.entities[0].properties, STR_LITERAL("Value"), &property))
        return "";
    return arena_copy(arena, property.value.bytes).data;
}
