/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_table.h - tables and long-running operations.
 */
#ifndef API_CODEC_TABLE_H
#define API_CODEC_TABLE_H

#include "api/codec.h"
#include "domain/operations/operation.h"
#include "tavola/v1/operation_service.pb-c.h"
#include "tavola/v1/table_service.pb-c.h"

/*
 * Compile the filter of ListTables, which may name one property: TableName.
 *
 * STATUS_INVALID, STATUS_UNIMPLEMENTED, STATUS_OUT_OF_RANGE  as filter_compile; INVALID_INPUT: another property
 */
MUST_USE enum status codec_table_filter_decode(
    ProtobufCBinaryData text, struct arena *arena, const struct filter **out, struct error *err);

Tavola__V1__Table *codec_table_message(const struct table_view *table, struct arena *arena);

/*
 * Decode the changes of UpdateTable: the fields that update_mask names, or, without a mask, all changeable fields
 * that are set.
 *
 * STATUS_INVALID  INVALID_INPUT: no table, no change, a path that is unknown or cannot be changed
 */
MUST_USE enum status codec_table_change_decode(const Tavola__V1__UpdateTableRequest *request,
    struct arena *arena, struct table_change *out, struct error *err);

Tavola__V1__Operation *codec_table_job_message(const struct job_view *run, struct arena *arena);

/*
 * Check the id of a long-running operation: 1 to 128 printable ASCII characters without spaces. OPERATION_NOT_FOUND
 * otherwise.
 */
MUST_USE enum status codec_table_check_operation_id(struct str id, struct error *err);

#endif
