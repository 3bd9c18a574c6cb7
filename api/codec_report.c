/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_report.c - see the header.
 */
#include "api/codec_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/codec_index.h"
#include "api/codec_read.h"
#include "api/codec_table.h"
#include "domain/indexes/verify_scope.h"
#include "domain/reason.h"

static enum status decode_end(
    const Tavola__V1__EntityKey *key, const char *field, bool *has, struct entity_key *out, struct error *err)
{
    *has = key != NULL;
    return key ? codec_entity_key_decode(key, field, out, err) : STATUS_OK;
}

static enum status decode_range(
    const Tavola__V1__SourceRange *range, struct source_range *out, struct error *err)
{
    if (!range)
        return STATUS_OK;
    TRY(decode_end(range->from, "range.from", &out->has_from, &out->from, err));
    return decode_end(range->below, "range.below", &out->has_below, &out->below, err);
}

static enum status decode_keys(Tavola__V1__EntityKey *const *keys, size_t count, struct arena *arena,
    struct operation_verify *out, struct error *err)
{
    struct operation_get get;

    if (count == 0)
        return STATUS_OK;
    if (out->range.has_from || out->range.has_below)
        return reason_set(err, REASON_INVALID_INPUT, "keys and range cannot be given together");
    TRY(codec_read_keys_decode(keys, count, arena, &get, err));
    out->keys = get.keys;
    out->key_count = get.count;
    return STATUS_OK;
}

struct values_message {
    Tavola__V1__Value *const *equals;
    size_t count;
    const Tavola__V1__ValueRange *values;
};

static enum status decode_values(const struct values_message *message, struct arena *arena,
    struct operation_verify *out, struct error *err)
{
    struct operation_lookup lookup = { 0 };

    TRY(codec_index_equals_decode(message->equals, message->count, arena, &lookup, err));
    TRY(codec_index_range_decode(message->values, "values", arena, &lookup.range, err));
    for (size_t i = 0; i < lookup.equal_count; i++)
        if (lookup.equals[i].type == PROPERTY_NULL)
            return reason_set(err, REASON_INVALID_INPUT, "equals[%zu] is null, which no entry has", i);
    out->values = verify_scope_encode(&lookup, arena);
    if (out->values.len > 0 && (out->key_count > 0 || out->range.has_from || out->range.has_below))
        return reason_set(
            err, REASON_INVALID_INPUT, "equals or values cannot be given together with keys or range");
    return STATUS_OK;
}

static enum status decode_mode(Tavola__V1__VerifyMode mode, struct operation_verify *out, struct error *err)
{
    if (mode != TAVOLA__V1__VERIFY_MODE__VERIFY_MODE_FULL &&
        mode != TAVOLA__V1__VERIFY_MODE__VERIFY_MODE_FAST)
        return reason_set(err, REASON_INVALID_INPUT, "mode: %d is not a value of VerifyMode", (int)mode);
    out->is_fast = mode == TAVOLA__V1__VERIFY_MODE__VERIFY_MODE_FAST;
    if (out->is_fast && out->key_count > 0)
        return reason_set(err, REASON_INVALID_INPUT, "keys and the mode FAST cannot be given together");
    return STATUS_OK;
}

enum status codec_report_verify_decode(const Tavola__V1__VerifyIndexRequest *request, struct arena *arena,
    struct operation_verify *out, struct error *err)
{
    *out = (struct operation_verify){ .report_id = STR_EMPTY, .values = STR_EMPTY };
    TRY(decode_range(request->range, &out->range, err));
    TRY(decode_keys(request->keys, request->n_keys, arena, out, err));
    TRY(decode_values(
        &(struct values_message){ request->equals, request->n_equals, request->values }, arena, out, err));
    return decode_mode(request->mode, out, err);
}

enum status codec_report_repair_decode(const Tavola__V1__RepairIndexRequest *request, struct arena *arena,
    struct operation_verify *out, struct error *err)
{
    *out = (struct operation_verify){
        .repairs = true, .dry_run = request->dry_run, .report_id = codec_str(request->report_id)
    };
    TRY(decode_range(request->range, &out->range, err));
    TRY(decode_keys(request->keys, request->n_keys, arena, out, err));
    TRY(decode_values(
        &(struct values_message){ request->equals, request->n_equals, request->values }, arena, out, err));
    if (out->report_id.len == 0)
        return STATUS_OK;
    if (out->key_count > 0 || out->range.has_from || out->range.has_below || out->values.len > 0)
        return reason_set(err, REASON_INVALID_INPUT,
            "report_id cannot be given together with keys, range, equals or values");
    return codec_table_check_operation_id(out->report_id, err);
}

Tavola__V1__IndexReport *codec_report_message(const struct report_view *report, struct arena *arena)
{
    Tavola__V1__IndexReport *out = ARENA_NEW(arena, Tavola__V1__IndexReport);

    tavola__v1__index_report__init(out);
    out->operation_id = codec_bytes(report->operation_id);
    out->index = codec_bytes(report->index);
    out->repairs = report->repairs;
    out->dry_run = report->dry_run;
    out->whole = report->is_whole;
    out->state = (Tavola__V1__OperationState)report->state;
    out->started = codec_timestamp(report->started, arena);
    out->ended = codec_timestamp(report->ended, arena);
    out->sources = report->counts.sources;
    out->entries = report->counts.entries;
    out->in_flight = report->counts.in_flight;
    out->missing = report->counts.found[DIFFERENCE_MISSING];
    out->dangling = report->counts.found[DIFFERENCE_DANGLING];
    out->mismatched = report->counts.found[DIFFERENCE_MISMATCHED];
    out->manifests = report->counts.found[DIFFERENCE_MANIFEST];
    out->mended = report->counts.mended;
    out->remaining = report->counts.remaining;
    out->copies = report->counts.copies;
    out->mode = report->is_fast ? TAVOLA__V1__VERIFY_MODE__VERIFY_MODE_FAST
                                : TAVOLA__V1__VERIFY_MODE__VERIFY_MODE_FULL;
    return out;
}

static ProtobufCBinaryData digest_text(uint64_t digest, struct arena *arena)
{
    return codec_bytes(digest == 0 ? STR_EMPTY : arena_format(arena, "%016" PRIx64, digest));
}

Tavola__V1__IndexDifference *codec_report_difference_message(
    const struct report_difference *difference, struct arena *arena)
{
    Tavola__V1__IndexDifference *out = ARENA_NEW(arena, Tavola__V1__IndexDifference);

    tavola__v1__index_difference__init(out);
    out->number = difference->number;
    out->kind = (Tavola__V1__IndexDifferenceKind)difference->class;
    out->state = (Tavola__V1__IndexDifferenceState)difference->state;
    if (difference->has_source)
        out->source = codec_entity_key_message(&difference->source, arena);
    if (difference->property.len == 0)
        out->entry = codec_entity_key_message(&difference->entry, arena);
    out->property = codec_bytes(difference->property);
    out->source_version = difference->source_version;
    out->entry_version = difference->found_version;
    out->entry_digest = digest_text(difference->found_digest, arena);
    out->wanted_digest = digest_text(difference->wanted_digest, arena);
    return out;
}
