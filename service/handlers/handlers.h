/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handlers.h - the methods of the server. Each is defined, with its functions, in the file of its name. A
 * method is served if service/methods.c lists it.
 */
#ifndef SERVICE_HANDLERS_HANDLERS_H
#define SERVICE_HANDLERS_HANDLERS_H

#include "service/call.h"

/* TableService */
extern const struct method create_table_method;
extern const struct method get_table_method;
extern const struct method get_account_usage_method;
extern const struct method list_tables_method;
extern const struct method update_table_method;
extern const struct method delete_table_method;

/* EntityService */
extern const struct method insert_entity_method;
extern const struct method replace_entity_method;
extern const struct method merge_entity_method;
extern const struct method insert_or_replace_entity_method;
extern const struct method insert_or_merge_entity_method;
extern const struct method delete_entity_method;
extern const struct method execute_batch_method;
extern const struct method get_entity_method;
extern const struct method batch_get_entities_method;
extern const struct method query_entities_method;
extern const struct method count_entities_method;
extern const struct method delete_range_method;
extern const struct method advise_indexes_method;
extern const struct method list_hot_partitions_method;
extern const struct method explain_query_method;
extern const struct method scan_entities_method;
extern const struct method watch_entities_method;
extern const struct method import_entities_method;

/* IndexService */
extern const struct method create_index_method;
extern const struct method get_index_method;
extern const struct method list_indexes_method;
extern const struct method update_index_method;
extern const struct method replace_index_method;
extern const struct method drop_index_method;
extern const struct method lookup_index_method;
extern const struct method verify_index_method;
extern const struct method repair_index_method;
extern const struct method get_index_report_method;

/* TransactionService */
extern const struct method submit_transaction_method;
extern const struct method get_transaction_method;
extern const struct method list_transactions_method;
extern const struct method wait_transaction_method;
extern const struct method watch_transaction_method;
extern const struct method cancel_transaction_method;

/* OperationService */
extern const struct method put_blob_method;
extern const struct method get_blob_method;
extern const struct method stat_blob_method;
extern const struct method delete_blob_method;
extern const struct method list_blobs_method;
extern const struct method get_upload_method;

extern const struct method get_operation_method;
extern const struct method list_operations_method;
extern const struct method wait_operation_method;
extern const struct method control_operation_method;

/* AdminService */
extern const struct method list_queues_method;
extern const struct method control_queue_method;
extern const struct method list_dead_letters_method;
extern const struct method redrive_dead_letters_method;
extern const struct method discard_dead_letters_method;
extern const struct method list_audit_records_method;
extern const struct method list_server_samples_method;
extern const struct method list_chunk_stores_method;
extern const struct method move_chunks_method;

/* grpc.health, in service/probes/health.c */
extern const struct method health_check_method;
extern const struct method health_watch_method;

/* grpc.reflection */
extern const struct method server_reflection_info_v1_method;
extern const struct method server_reflection_info_v1alpha_method;

#endif
