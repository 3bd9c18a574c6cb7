/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.c - the method table. A method that is not in it does not exist: the transport answers
 * UNIMPLEMENTED, and the public protos do not declare it (a test compares the two).
 */
#include "service/methods.h"

#include "service/handlers/handlers.h"
#include "service/probes/metrics.h"
#include "tavola/v1/admin_service.pb-c.h"
#include "tavola/v1/entity_service.pb-c.h"
#include "tavola/v1/index_service.pb-c.h"
#include "tavola/v1/operation_service.pb-c.h"
#include "tavola/v1/table_service.pb-c.h"
#include "tavola/v1/transaction_service.pb-c.h"

/* A row for a unary method that is one operation. */
#define OPERATION_METHOD(path, request, decode, encode)                                                      \
    {                                                                                                        \
        path, RPC_UNARY, &operation_call_events, &(request), decode, encode, NULL                            \
    }

/* A row for a method that is one operation after another. */
#define STREAM_METHOD(path, kind, request, stream)                                                           \
    {                                                                                                        \
        path, kind, &stream_events, &(request), NULL, NULL, &(stream)                                        \
    }

/* A row for a method that handles the events of its calls itself. */
#define EVENTS_METHOD(path, kind, events)                                                                    \
    {                                                                                                        \
        path, kind, &(events), NULL, NULL, NULL, NULL                                                        \
    }

const struct method methods[] = {
    /* clang-format off */
    OPERATION_METHOD("/tavola.v1.TableService/CreateTable", tavola__v1__create_table_request__descriptor,
        create_table_decode, table_encode),
    OPERATION_METHOD("/tavola.v1.TableService/GetTable", tavola__v1__get_table_request__descriptor,
        get_table_decode, table_encode),
    OPERATION_METHOD("/tavola.v1.TableService/ListTables", tavola__v1__list_tables_request__descriptor,
        list_tables_decode, list_tables_encode),
    OPERATION_METHOD("/tavola.v1.TableService/UpdateTable", tavola__v1__update_table_request__descriptor,
        update_table_decode, table_encode),
    OPERATION_METHOD("/tavola.v1.TableService/DeleteTable", tavola__v1__delete_table_request__descriptor,
        delete_table_decode, job_encode),
    OPERATION_METHOD("/tavola.v1.EntityService/InsertEntity", tavola__v1__insert_entity_request__descriptor,
        insert_entity_decode, write_result_encode),
    OPERATION_METHOD("/tavola.v1.EntityService/ReplaceEntity", tavola__v1__replace_entity_request__descriptor,
        replace_entity_decode, write_result_encode),
    OPERATION_METHOD("/tavola.v1.EntityService/MergeEntity", tavola__v1__merge_entity_request__descriptor,
        merge_entity_decode, write_result_encode),
    OPERATION_METHOD("/tavola.v1.EntityService/InsertOrReplaceEntity", tavola__v1__insert_or_replace_entity_request__descriptor,
        insert_or_replace_entity_decode, write_result_encode),
    OPERATION_METHOD("/tavola.v1.EntityService/InsertOrMergeEntity", tavola__v1__insert_or_merge_entity_request__descriptor,
        insert_or_merge_entity_decode, write_result_encode),
    OPERATION_METHOD("/tavola.v1.EntityService/DeleteEntity", tavola__v1__delete_entity_request__descriptor,
        delete_entity_decode, write_result_encode),
    OPERATION_METHOD("/tavola.v1.EntityService/ExecuteBatch", tavola__v1__execute_batch_request__descriptor,
        execute_batch_decode, execute_batch_encode),
    OPERATION_METHOD("/tavola.v1.EntityService/GetEntity", tavola__v1__get_entity_request__descriptor,
        get_entity_decode, get_entity_encode),
    OPERATION_METHOD("/tavola.v1.EntityService/BatchGetEntities", tavola__v1__batch_get_entities_request__descriptor,
        batch_get_entities_decode, batch_get_entities_encode),
    OPERATION_METHOD("/tavola.v1.EntityService/QueryEntities", tavola__v1__query_entities_request__descriptor,
        query_entities_decode, query_entities_encode),
    OPERATION_METHOD("/tavola.v1.EntityService/CountEntities", tavola__v1__count_entities_request__descriptor,
        count_entities_decode, count_entities_encode),
    OPERATION_METHOD("/tavola.v1.EntityService/DeleteRange", tavola__v1__delete_range_request__descriptor,
        delete_range_decode, job_encode),
    OPERATION_METHOD("/tavola.v1.EntityService/ExplainQuery", tavola__v1__explain_query_request__descriptor,
        explain_query_decode, explain_query_encode),
    STREAM_METHOD("/tavola.v1.EntityService/ScanEntities", RPC_SERVER_STREAM,
        tavola__v1__scan_entities_request__descriptor, scan_entities_stream),
    STREAM_METHOD("/tavola.v1.EntityService/WatchEntities", RPC_SERVER_STREAM,
        tavola__v1__watch_entities_request__descriptor, watch_entities_stream),
    STREAM_METHOD("/tavola.v1.EntityService/ImportEntities", RPC_BIDI,
        tavola__v1__import_entities_request__descriptor, import_entities_stream),
    OPERATION_METHOD("/tavola.v1.IndexService/CreateIndex", tavola__v1__create_index_request__descriptor,
        create_index_decode, index_encode),
    OPERATION_METHOD("/tavola.v1.IndexService/GetIndex", tavola__v1__get_index_request__descriptor,
        get_index_decode, index_encode),
    OPERATION_METHOD("/tavola.v1.IndexService/ListIndexes", tavola__v1__list_indexes_request__descriptor,
        list_indexes_decode, list_indexes_encode),
    OPERATION_METHOD("/tavola.v1.IndexService/DropIndex", tavola__v1__drop_index_request__descriptor,
        drop_index_decode, job_encode),
    OPERATION_METHOD("/tavola.v1.IndexService/LookupIndex", tavola__v1__lookup_index_request__descriptor,
        lookup_index_decode, lookup_index_encode),
    OPERATION_METHOD("/tavola.v1.TransactionService/SubmitTransaction", tavola__v1__submit_transaction_request__descriptor,
        submit_transaction_decode, transaction_encode),
    OPERATION_METHOD("/tavola.v1.TransactionService/GetTransaction", tavola__v1__get_transaction_request__descriptor,
        get_transaction_decode, transaction_encode),
    OPERATION_METHOD("/tavola.v1.TransactionService/ListTransactions", tavola__v1__list_transactions_request__descriptor,
        list_transactions_decode, list_transactions_encode),
    OPERATION_METHOD("/tavola.v1.TransactionService/WaitTransaction", tavola__v1__wait_transaction_request__descriptor,
        wait_transaction_decode, transaction_encode),
    STREAM_METHOD("/tavola.v1.TransactionService/WatchTransaction", RPC_SERVER_STREAM,
        tavola__v1__watch_transaction_request__descriptor, watch_transaction_stream),
    OPERATION_METHOD("/tavola.v1.TransactionService/CancelTransaction", tavola__v1__cancel_transaction_request__descriptor,
        cancel_transaction_decode, transaction_encode),
    OPERATION_METHOD("/tavola.v1.OperationService/GetOperation", tavola__v1__get_operation_request__descriptor,
        get_operation_decode, job_encode),
    OPERATION_METHOD("/tavola.v1.OperationService/ListOperations", tavola__v1__list_operations_request__descriptor,
        list_operations_decode, list_operations_encode),
    OPERATION_METHOD("/tavola.v1.OperationService/WaitOperation", tavola__v1__wait_operation_request__descriptor,
        wait_operation_decode, job_encode),
    OPERATION_METHOD("/tavola.v1.OperationService/ControlOperation", tavola__v1__control_operation_request__descriptor,
        control_operation_decode, job_encode),
    OPERATION_METHOD("/tavola.v1.AdminService/ListQueues", tavola__v1__list_queues_request__descriptor,
        list_queues_decode, queues_encode),
    OPERATION_METHOD("/tavola.v1.AdminService/ControlQueue", tavola__v1__control_queue_request__descriptor,
        control_queue_decode, queues_encode),
    OPERATION_METHOD("/tavola.v1.AdminService/ListDeadLetters", tavola__v1__list_dead_letters_request__descriptor,
        list_dead_letters_decode, list_dead_letters_encode),
    OPERATION_METHOD("/tavola.v1.AdminService/RedriveDeadLetters", tavola__v1__redrive_dead_letters_request__descriptor,
        redrive_dead_letters_decode, redrive_dead_letters_encode),
    OPERATION_METHOD("/tavola.v1.AdminService/DiscardDeadLetters", tavola__v1__discard_dead_letters_request__descriptor,
        discard_dead_letters_decode, discard_dead_letters_encode),
    EVENTS_METHOD("/grpc.health.v1.Health/Check", RPC_UNARY, health_check_events),
    EVENTS_METHOD("/grpc.health.v1.Health/Watch", RPC_SERVER_STREAM, health_watch_events),
    EVENTS_METHOD("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", RPC_BIDI, server_reflection_info_events),
    EVENTS_METHOD("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", RPC_BIDI, server_reflection_info_events),
    /* clang-format on */
};
const size_t method_count = ARRAY_LEN(methods);

bool methods_have_service(struct str name)
{
    for (size_t i = 0; i < method_count; i++) {
        struct str path = str_from(str_of(methods[i].path), 1);

        if (str_starts_with(path, name) && path.data[name.len] == '/')
            return true;
    }
    return false;
}

const struct rpc_method *methods_for_rpc(struct arena *arena)
{
    struct rpc_method *out = ARENA_ARRAY(arena, struct rpc_method, method_count);

    for (size_t i = 0; i < method_count; i++)
        out[i] = (struct rpc_method){ methods[i].path, methods[i].kind, &methods[i] };
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

static void begin(struct rpc_call *call)
{
    const struct call_events *events = call_method(call)->events;

    if (events->begin)
        events->begin(call);
}

static void message(struct rpc_call *call, struct str bytes)
{
    call_method(call)->events->message(call, bytes);
}

static void half_closed(struct rpc_call *call)
{
    const struct call_events *events = call_method(call)->events;

    if (events->half_closed)
        events->half_closed(call);
}

static void sent(struct rpc_call *call)
{
    const struct call_events *events = call_method(call)->events;

    if (events->sent)
        events->sent(call);
}

static void cancelled(struct rpc_call *call)
{
    const struct call_events *events = call_method(call)->events;

    if (events->cancelled)
        events->cancelled(call);
}

static void ended(struct rpc_call *call)
{
    const struct call_events *events = call_method(call)->events;
    const struct service *service = rpc_call_context(call);

    if (service->calls)
        metrics_count_call(service->calls, call);
    if (events->ended)
        events->ended(call);
}

static void drained(void *context)
{
    struct service *service = context;

    store_run(service->store);
}

const struct rpc_events methods_events = {
    .begin = begin,
    .message = message,
    .half_closed = half_closed,
    .sent = sent,
    .cancelled = cancelled,
    .ended = ended,
    .drained = drained,
};
