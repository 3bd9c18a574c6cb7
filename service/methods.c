/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.c - the method table. A method that the table does not list does not exist: the transport answers
 * UNIMPLEMENTED, and the public protos do not declare it (a test compares the two).
 */
#include "service/methods.h"

#include <assert.h>

#include "base/clock.h"
#include "service/handlers/handlers.h"
#include "service/http/door.h"
#include "service/probes/metrics.h"
#include "service/service.h"

const struct method *const methods[] = {
    &create_table_method,
    &get_table_method,
    &get_account_usage_method,
    &list_tables_method,
    &update_table_method,
    &delete_table_method,

    &insert_entity_method,
    &replace_entity_method,
    &merge_entity_method,
    &insert_or_replace_entity_method,
    &insert_or_merge_entity_method,
    &delete_entity_method,
    &execute_batch_method,
    &get_entity_method,
    &batch_get_entities_method,
    &query_entities_method,
    &count_entities_method,
    &delete_range_method,
    &explain_query_method,
    &scan_entities_method,
    &watch_entities_method,
    &import_entities_method,

    &create_index_method,
    &get_index_method,
    &list_indexes_method,
    &update_index_method,
    &replace_index_method,
    &drop_index_method,
    &lookup_index_method,
    &verify_index_method,
    &repair_index_method,
    &get_index_report_method,
    &advise_indexes_method,

    &submit_transaction_method,
    &get_transaction_method,
    &list_transactions_method,
    &wait_transaction_method,
    &watch_transaction_method,
    &cancel_transaction_method,

    &put_blob_method,
    &get_blob_method,
    &stat_blob_method,
    &delete_blob_method,
    &list_blobs_method,
    &get_upload_method,

    &get_operation_method,
    &list_operations_method,
    &wait_operation_method,
    &control_operation_method,

    &list_queues_method,
    &control_queue_method,
    &list_dead_letters_method,
    &redrive_dead_letters_method,
    &discard_dead_letters_method,
    &list_hot_partitions_method,
    &list_audit_records_method,
    &list_server_samples_method,
    &list_chunk_stores_method,
    &move_chunks_method,

    &health_check_method,
    &health_watch_method,

    &server_reflection_info_v1_method,
    &server_reflection_info_v1alpha_method,
};
const size_t method_count = ARRAY_LEN(methods);

size_t methods_count(const struct service *service)
{
    size_t count = method_count;

    for (size_t i = 0; i < service->door_count; i++)
        count += service->doors[i]->method_count;
    return count;
}

const struct method *const *methods_at(const struct service *service, size_t number)
{
    if (number < method_count)
        return &methods[number];
    number -= method_count;
    for (size_t i = 0; i < service->door_count; i++) {
        const struct http_door *door = service->doors[i];

        if (number < door->method_count)
            return &door->methods[number];
        number -= door->method_count;
    }
    return NULL;
}

size_t methods_number(const struct service *service, const struct method *method)
{
    size_t number = 0;
    size_t count = methods_count(service);

    while (number < count && *methods_at(service, number) != method)
        number++;
    assert(number < count && "a method of no door");
    return number;
}

static bool is_in(const struct method *const *row, const struct method *const *table, size_t count)
{
    return (uintptr_t)row >= (uintptr_t)table && (uintptr_t)row < (uintptr_t)(table + count);
}

size_t methods_index(const struct rpc_call *call)
{
    const struct service *service = rpc_call_context(call);
    const struct method *const *row = rpc_call_method(call)->handler;
    size_t before = method_count;

    if (is_in(row, methods, method_count))
        return (size_t)(row - methods);
    for (size_t i = 0; i < service->door_count; i++) {
        const struct http_door *door = service->doors[i];

        if (is_in(row, door->methods, door->method_count))
            return before + (size_t)(row - door->methods);
        before += door->method_count;
    }
    assert(false && "a method of no door");
    return 0;
}

bool methods_have_service(struct str name)
{
    for (size_t i = 0; i < method_count; i++) {
        struct str path = str_from(str_of(methods[i]->path), 1);

        if (str_starts_with(path, name) && path.data[name.len] == '/')
            return true;
    }
    return false;
}

const struct rpc_method *methods_for_rpc(struct arena *arena)
{
    struct rpc_method *out = ARENA_ARRAY(arena, struct rpc_method, method_count);

    for (size_t i = 0; i < method_count; i++)
        out[i] = (struct rpc_method){ methods[i]->path, methods[i]->kind, &methods[i],
            .is_open = !methods[i]->request,
            .writes = !operation_kind_facts(methods[i]->operation)->only_reads };
    return out;
}

const struct rpc_method *methods_for_health(struct arena *arena, size_t *count)
{
    const struct rpc_method *all = methods_for_rpc(arena);
    struct rpc_method *out = ARENA_ARRAY(arena, struct rpc_method, method_count);

    *count = 0;
    for (size_t i = 0; i < method_count; i++)
        if (str_starts_with(str_of(all[i].path), STR_LITERAL("/grpc.health.v1.Health/")))
            out[(*count)++] = all[i];
    return out;
}

static void forward_begin(struct rpc_call *call)
{
    const struct call_events *events = call_method(call)->events;

    if (events->begin)
        events->begin(call);
    else
        rpc_call_read(call);
}

static void forward_message(struct rpc_call *call, struct str bytes)
{
    call_method(call)->events->message(call, bytes);
}

/*
 * Methods that need no credential have no account with a rate. Their requests are so small that none is
 * needed.
 */
enum status methods_admit_inflating(struct rpc_call *call, struct error *err)
{
    const struct call_events *events = call_method(call)->events;
    const struct service *service = rpc_call_context(call);

    if (!events->context || !service->rates)
        return STATUS_OK;
    return rates_admit_inflating(service->rates, events->context(call)->account, clock_monotonic_us(), err);
}

static bool admit_inflating(struct rpc_call *call)
{
    struct error err = { 0 };

    if (methods_admit_inflating(call, &err) == STATUS_OK)
        return true;
    call_method(call)->events->refuse(call, &err);
    return false;
}

static void note_inflated(struct rpc_call *call, size_t bytes)
{
    const struct call_events *events = call_method(call)->events;
    const struct service *service = rpc_call_context(call);

    if (events->context && service->rates)
        rates_note_inflated(service->rates, events->context(call)->account, bytes, clock_monotonic_us());
}

static void forward_half_closed(struct rpc_call *call)
{
    const struct call_events *events = call_method(call)->events;

    if (events->half_closed)
        events->half_closed(call);
}

static void forward_sent(struct rpc_call *call)
{
    const struct call_events *events = call_method(call)->events;

    if (events->sent)
        events->sent(call);
}

static void forward_cancelled(struct rpc_call *call)
{
    const struct call_events *events = call_method(call)->events;

    if (events->cancelled)
        events->cancelled(call);
}

static void forward_ended(struct rpc_call *call)
{
    const struct call_events *events = call_method(call)->events;
    const struct service *service = rpc_call_context(call);

    if (service->calls)
        metrics_count_call(service->calls, call);
    if (events->ended)
        events->ended(call);
}

static void begin_collected(void *context)
{
    struct service *service = context;

    store_begin(service->store);
}

static void run_collected(void *context)
{
    struct service *service = context;

    store_run(service->store);
}

const struct rpc_events methods_events = {
    .begin = forward_begin,
    .message = forward_message,
    .may_inflate = admit_inflating,
    .inflated = note_inflated,
    .half_closed = forward_half_closed,
    .sent = forward_sent,
    .cancelled = forward_cancelled,
    .ended = forward_ended,
    .draining = begin_collected,
    .drained = run_collected,
};
