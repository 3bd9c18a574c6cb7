/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_error.h - errors in the form that callers get: gRPC codes, Error messages inside replies, and
 * google.rpc.Status for trailers.
 */
#ifndef API_CODEC_ERROR_H
#define API_CODEC_ERROR_H

#include "api/codec.h"
#include "domain/entities/entity.h"
#include "tavola/v1/entity.pb-c.h"

/* The gRPC code (google.rpc.Code, 0..16) of a status. */
int codec_error_status_code(enum status status);

/* The name of the error's reason. An error without a reason gets a general one by its status. */
const char *codec_error_reason(const struct error *err);

/* The Error message of a reply. */
Tavola__V1__Error *codec_error_message(const struct error *err, struct arena *arena);

/*
 * An error for trailers: a message that begins with "REASON: ", because many clients show details as base64
 * or not at all, and a serialized google.rpc.Status with the same message, one ErrorInfo, and RetryInfo for
 * LIMIT by load and UNAVAILABLE. Both together stay under CODEC_TRAILER_BYTES as they are sent (the
 * message percent-encoded, the details in base64): metadata values are shortened until they do.
 *
 * entity: as it is stored, or NULL. It becomes a detail of type tavola.v1.Entity if it has no more than
 * LIMIT_ERROR_ENTITY_BYTES and all stays under CODEC_TRAILER_ENTITY_BYTES; else it is left out.
 */
enum { CODEC_TRAILER_BYTES = 3072, CODEC_TRAILER_ENTITY_BYTES = 4096 };
struct codec_trailers {
    int code;
    struct str message;
    struct str details;
};
struct codec_trailers codec_trailers_encode(
    const struct error *err, const struct entity *entity, struct arena *arena);

#endif
