/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_plan.h - what a put, a delete or a continued upload may do with what is stored, and which
 * chunks hold a range. Pure.
 */
#ifndef DOMAIN_BLOBS_BLOB_PLAN_H
#define DOMAIN_BLOBS_BLOB_PLAN_H

#include "domain/blobs/blob.h"

/* A condition on what the name points to. At most one of the members is set. */
struct blob_condition {
    bool must_exist;
    bool must_be_absent;
    bool must_match;
    struct blob_id etag; /* must_match: the content that must be current */
};

/*
 * Read a condition of a request. if_match: an ETag, "*" or empty.
 *
 * STATUS_INVALID  INVALID_INPUT: the ETag is malformed, or both are given
 */
MUST_USE enum status blob_condition_parse(
    struct str if_match, bool if_absent, struct blob_condition *out, struct error *err);

/*
 * current  what the name points to; NULL: there is no such blob
 *
 * STATUS_STALE   UPDATE_CONDITION_NOT_SATISFIED
 * STATUS_EXISTS  BLOB_ALREADY_EXISTS
 */
MUST_USE enum status blob_condition_check(
    const struct blob_condition *condition, const struct blob_id *current, struct error *err);

/*
 * Whether a stream may continue the upload at this offset.
 *
 * STATUS_NOT_FOUND     UPLOAD_NOT_FOUND: it is complete, and its blob was replaced or deleted since
 * STATUS_PRECONDITION  UPLOAD_OFFSET_MISMATCH
 */
MUST_USE enum status blob_plan_continue(const struct blob_upload *upload, int64_t offset, struct error *err);

/* STATUS_INVALID  BLOB_TOO_LARGE */
MUST_USE enum status blob_plan_size(int64_t size, struct error *err);

/* Chunks of a content, from `first` on; empty if first is behind `last`. */
struct blob_span {
    int64_t first, last; /* numbers of chunks */
    int64_t skip;        /* bytes of the first chunk that are left out */
    int64_t length;      /* bytes in all */
};

/*
 * The chunks that hold the range. length: 0: up to the end.
 *
 * STATUS_OUT_OF_RANGE  OUT_OF_RANGE_INPUT: it begins behind the end
 */
MUST_USE enum status blob_plan_range(
    int64_t size, int64_t offset, int64_t length, struct blob_span *out, struct error *err);

#endif
