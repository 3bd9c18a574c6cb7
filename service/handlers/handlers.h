/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handlers.h - one file per RPC; what the method table needs of each.
 */
#ifndef SERVICE_HANDLERS_HANDLERS_H
#define SERVICE_HANDLERS_HANDLERS_H

#include "service/call.h"

call_decode_fn create_table_decode;
call_decode_fn get_table_decode;
call_decode_fn list_tables_decode;
call_encode_fn list_tables_encode;
call_decode_fn update_table_decode;
call_decode_fn delete_table_decode;

call_decode_fn insert_entity_decode;
call_decode_fn replace_entity_decode;
call_decode_fn merge_entity_decode;
call_decode_fn insert_or_replace_entity_decode;
call_decode_fn insert_or_merge_entity_decode;
call_decode_fn delete_entity_decode;
call_decode_fn execute_batch_decode;
call_encode_fn execute_batch_encode;
call_decode_fn get_entity_decode;
call_encode_fn get_entity_encode;
call_decode_fn batch_get_entities_decode;
call_encode_fn batch_get_entities_encode;
call_decode_fn query_entities_decode;
call_encode_fn query_entities_encode;
call_decode_fn count_entities_decode;
call_encode_fn count_entities_encode;
call_decode_fn explain_query_decode;
call_encode_fn explain_query_encode;

call_decode_fn create_index_decode;
call_decode_fn get_index_decode;
call_decode_fn list_indexes_decode;
call_encode_fn list_indexes_encode;
call_decode_fn drop_index_decode;
call_decode_fn lookup_index_decode;
call_encode_fn lookup_index_encode;

call_decode_fn submit_transaction_decode;
call_decode_fn get_transaction_decode;
call_decode_fn list_transactions_decode;
call_encode_fn list_transactions_encode;
call_decode_fn wait_transaction_decode;
call_decode_fn cancel_transaction_decode;

call_decode_fn control_operation_decode;
call_decode_fn delete_range_decode;
call_decode_fn get_operation_decode;
call_decode_fn list_operations_decode;
call_encode_fn list_operations_encode;
call_decode_fn wait_operation_decode;

call_decode_fn list_queues_decode;
call_decode_fn control_queue_decode;
call_encode_fn queues_encode;
call_decode_fn list_dead_letters_decode;
call_encode_fn list_dead_letters_encode;
call_decode_fn redrive_dead_letters_decode;
call_encode_fn redrive_dead_letters_encode;
call_decode_fn discard_dead_letters_decode;
call_encode_fn discard_dead_letters_encode;

/* Replies that several methods share: one WriteResult, Table, Operation, Index with status, Transaction. */
call_encode_fn write_result_encode;
call_encode_fn table_encode;
call_encode_fn job_encode;
call_encode_fn index_encode;
call_encode_fn transaction_encode;

/* Calls that are one operation after another. */
extern const struct stream_method import_entities_stream;
extern const struct stream_method scan_entities_stream;
extern const struct stream_method watch_entities_stream;
extern const struct stream_method watch_transaction_stream;

/* Calls that handle their events themselves. */
extern const struct call_events health_check_events;
extern const struct call_events health_watch_events;
extern const struct call_events server_reflection_info_events;

#endif
