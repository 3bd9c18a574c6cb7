/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_record.h - request records: a digest of a write with a request_id, and its answer, which
 * commit together with its effect. A repeat of the write is answered from the record.
 *
 * Every outcome that depends on the stored entities is recorded (a result, or a condition that
 * failed), because the same request could have another outcome later. Invalid input, missing tables
 * and overload are not recorded, because nothing was decided.
 *
 * Pure: no I/O, no clock.
 */
#ifndef DOMAIN_WRITES_REQUEST_RECORD_H
#define DOMAIN_WRITES_REQUEST_RECORD_H

#include <stdbool.h>

#include "domain/operations/operation.h"

enum { REQUEST_DIGEST_BYTES = 32 };

struct request_record {
    struct str digest;   /* REQUEST_DIGEST_BYTES of them */
    struct str response; /* the stored answer; empty: not decided yet */
};

/*
 * SHA-256 of the content of an OPERATION_WRITE: equal for equal requests to the same table. A later
 * table with the same name is another table.
 */
struct str request_record_digest(const struct operation *operation, int64_t table_id, struct arena *arena);

/* The stored answer that contains the outcome of an atomic write. */
struct str request_record_response(const struct operation *operation, struct arena *arena);

/*
 * Give an atomic write with this digest the outcome that is recorded under its id, marked as
 * `replayed` in the outcome or in the error's metadata. If the record is of another request, the
 * outcome is REQUEST_ID_REUSED.
 */
void request_record_replay(
    const struct request_record *record, struct str digest, struct operation *operation);

#endif
