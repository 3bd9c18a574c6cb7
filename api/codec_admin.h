/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_admin.h - administration: dead letters and queues as messages, and the requests that select or control them.
 */
#ifndef API_CODEC_ADMIN_H
#define API_CODEC_ADMIN_H

#include "api/codec.h"
#include "domain/operations/operation.h"
#include "tavola/v1/admin_service.pb-c.h"

/*
 * Decode a filter of dead letters. NULL selects all dead letters in the state DEAD. queues: the number of queues.
 * INVALID_INPUT names the field.
 */
MUST_USE enum status codec_admin_dead_letter_filter_decode(const Tavola__V1__DeadLetterFilter *filter,
    int32_t queues, struct dead_letter_filter *out, struct error *err);

/*
 * Decode the dead letters to be changed: numbers, a filter, or both; at least one is required. At most
 * LIMIT_PAGE_ROWS numbers.
 */
MUST_USE enum status codec_admin_dead_letters_decode(const int64_t *ids, size_t count,
    const Tavola__V1__DeadLetterFilter *filter, int32_t queues, struct operation_dead_letters *out,
    struct error *err);

Tavola__V1__DeadLetter *codec_admin_dead_letter_message(
    const struct dead_letter_view *dead_letter, const struct dead_letter_filter *filter, struct arena *arena);
Tavola__V1__CauseCount *codec_admin_cause_message(const struct cause_view *cause, struct arena *arena);
Tavola__V1__RedriveDifference *codec_admin_difference_message(
    int64_t dead_letter_id, const struct dead_letter_difference *difference, struct arena *arena);

/* Decode which records are asked for: of an account, and of a period. OUT_OF_RANGE_INPUT names the field. */
MUST_USE enum status codec_admin_audit_decode(
    const Tavola__V1__ListAuditRecordsRequest *request, struct operation_audit *out, struct error *err);

Tavola__V1__AuditRecord *codec_admin_audit_message(const struct audit_view *view, struct arena *arena);

/* Decode a request to control queues. Errors name the field. */
MUST_USE enum status codec_admin_queue_control_decode(
    const Tavola__V1__ControlQueueRequest *request, struct operation_queues *out, struct error *err);

/*
 * Append one Queue message per queue as a repeated field. The rows of one queue, one per kind of work, follow each
 * other.
 */
void codec_admin_queues_write(
    struct buf *out, uint32_t field, const struct outcome_queues *queues, struct arena *arena);

#endif
