/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_plan.c - see the header.
 */
#include "domain/blobs/blob_plan.h"

#include "domain/limits.h"
#include "domain/reason.h"

enum status blob_condition_parse(
    struct str if_match, bool if_absent, struct blob_condition *out, struct error *err)
{
    struct blob_condition read = { .must_be_absent = if_absent };

    if (if_absent && if_match.len > 0)
        return reason_set(err, REASON_INVALID_INPUT,
            "if_match and if_absent exclude each other: a blob cannot both exist and be absent");
    if (str_equal(if_match, STR_LITERAL("*")))
        read.must_exist = true;
    else if (if_match.len > 0)
        read.must_match = true;
    if (read.must_match && !blob_etag_parse(if_match, &read.etag)) {
        (void)reason_set(err, REASON_INVALID_INPUT, "if_match is not an ETag of a blob, and not *");
        return error_in_field(err, "if_match");
    }
    *out = read;
    return STATUS_OK;
}

enum status blob_condition_check(
    const struct blob_condition *condition, const struct blob_id *current, struct error *err)
{
    if (condition->must_be_absent && current)
        return reason_set(err, REASON_BLOB_ALREADY_EXISTS, "a blob of this name exists");
    if ((condition->must_exist || condition->must_match) && !current)
        return reason_set(err, REASON_UPDATE_CONDITION_NOT_SATISFIED, "there is no blob of this name");
    if (condition->must_match && !str_equal(blob_id_str(&condition->etag), blob_id_str(current)))
        return reason_set(err, REASON_UPDATE_CONDITION_NOT_SATISFIED,
            "the blob has another content than the one whose ETag is in if_match");
    return STATUS_OK;
}

enum status blob_plan_continue(const struct blob_upload *upload, int64_t offset, struct error *err)
{
    if (upload->state == BLOB_CONTENT_DISCARDED)
        return reason_set(err, REASON_UPLOAD_NOT_FOUND,
            "the upload was abandoned, or it was complete and its blob was replaced or deleted: use a new "
            "upload_id");
    if (blob_content_is_complete(upload->state) || upload->stored == offset)
        return STATUS_OK;
    (void)reason_set(err, REASON_UPLOAD_OFFSET_MISMATCH,
        "the upload has stored %lld bytes, so it continues with that offset", (long long)upload->stored);
    error_add_meta_int(err, "stored", upload->stored);
    error_add_meta_int(err, "offset", offset);
    return err->status;
}

enum status blob_plan_size(int64_t size, struct error *err)
{
    if (size <= LIMIT_BLOB_BYTES)
        return STATUS_OK;
    (void)reason_set(
        err, REASON_BLOB_TOO_LARGE, "a blob has at most %lld bytes", (long long)LIMIT_BLOB_BYTES);
    error_add_meta_int(err, "limit", LIMIT_BLOB_BYTES);
    return err->status;
}

enum status blob_plan_range(
    int64_t size, int64_t offset, int64_t length, struct blob_span *out, struct error *err)
{
    int64_t left = size - offset, wanted = length == 0 || length > left ? left : length;

    if (offset > size) {
        (void)reason_set(err, REASON_OUT_OF_RANGE_INPUT, "the range begins behind the end of the blob");
        error_add_meta_int(err, "size", size);
        return err->status;
    }
    *out = (struct blob_span){ .first = offset / LIMIT_BLOB_CHUNK_BYTES,
        .last = (offset + wanted - 1) / LIMIT_BLOB_CHUNK_BYTES,
        .skip = offset % LIMIT_BLOB_CHUNK_BYTES,
        .length = wanted };
    if (wanted == 0)
        out->last = out->first - 1;
    return STATUS_OK;
}
