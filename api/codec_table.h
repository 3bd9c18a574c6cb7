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
 * The filter of a list of tables, which have one property: TableName.
 * STATUS_INVALID, STATUS_UNIMPLEMENTED, STATUS_OUT_OF_RANGE  as filter_compile; INVALID_INPUT: another property
 */
MUST_USE enum status codec_table_filter_decode(
    ProtobufCBinaryData text, struct arena *arena, const struct filter **out, struct error *err);

Tavola__V1__Table *codec_table_message(const struct table_view *table, struct arena *arena);

/*
 * What update_mask names, or, without one, what is set of what can be changed. At least one thing must change.
 * STATUS_INVALID  INVALID_INPUT: no table, nothing to change, a path that is unknown or cannot be changed
 */
MUST_USE enum status codec_table_change_decode(const Tavola__V1__UpdateTableRequest *request,
    struct arena *arena, struct table_change *out, struct error *err);

Tavola__V1__Operation *codec_table_job_message(const struct job_view *run, struct arena *arena);

/* An operation's id: not empty, at most 128 printable ASCII characters. OPERATION_NOT_FOUND else. */
MUST_USE enum status codec_table_check_operation_id(struct str id, struct error *err);

#endif
