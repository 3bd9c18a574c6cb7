/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - one closed set of statuses for the whole program, and the error that carries one.
 *
 * The function that detects an error fills it and returns its status; its callers pass it on with
 * TRY. There is no thread-local last error. STATUS_MAYBE_DONE (the connection died at COMMIT) must
 * never be reported as a plain failure.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/str.h"

enum status {
    STATUS_OK,
    STATUS_INVALID,      /* the request can never succeed as it stands */
    STATUS_OUT_OF_RANGE, /* a value outside its permitted range */
    STATUS_NOT_FOUND,
    STATUS_EXISTS,
    STATUS_STALE,        /* an ETag or version that is no longer current */
    STATUS_PRECONDITION, /* the system is not in the state the request needs */
    STATUS_LIMIT,        /* too large, too many, or shed because of load */
    STATUS_UNIMPLEMENTED,
    STATUS_UNAUTHENTICATED,
    STATUS_DENIED,
    STATUS_TIMEOUT,
    STATUS_CANCELLED,
    STATUS_UNAVAILABLE, /* nothing happened; try again */
    STATUS_MAYBE_DONE,  /* the outcome is unknown */
    STATUS_INTERNAL,
    STATUS_COUNT
};

enum {
    ERROR_MESSAGE_BYTES = 512,
    ERROR_META_VALUE_BYTES = 257,
    ERROR_META_COUNT = 7,
    ERROR_FIELD_BYTES = 288,
    ERROR_DETAIL_BYTES = 256,
};

/* One pair of an error's metadata; values are cut at 256 bytes, on a character boundary. */
struct error_meta {
    const char *key; /* a string literal */
    char value[ERROR_META_VALUE_BYTES];
};

struct error {
    enum status status;
    const char *reason; /* static UPPER_SNAKE name, see domain/reason.h; NULL: none was given */
    char sqlstate[6];   /* "" when the database was not the cause */
    char message[ERROR_MESSAGE_BYTES];
    struct error_meta meta[ERROR_META_COUNT];
    size_t meta_count;
    char detail[ERROR_DETAIL_BYTES]; /* the text of a library or the database, for the log only */
    char field[ERROR_FIELD_BYTES];   /* the path of the wrong field in the request; "": not known */
};

/* Fill err (may be NULL) and return status. An earlier message and its metadata are replaced. */
PRINTF_LIKE(3, 4)
enum status error_set(struct error *err, enum status status, const char *format, ...);

/* As error_set, with a va_list and the name of a reason. */
PRINTF_LIKE(4, 0)
enum status error_set_reason(
    struct error *err, enum status status, const char *reason, const char *format, __builtin_va_list args);

/* Set the detail for the log of an error that is already set; err may be NULL. */
void error_set_detail(struct error *err, const char *detail);

/*
 * Add metadata to an error that is already set. If it has ERROR_META_COUNT pairs, the new pair is
 * dropped.
 */
void error_add_meta(struct error *err, const char *key, struct str value);
void error_add_meta_int(struct error *err, const char *key, int64_t value);

/*
 * Put a step in front of the path of the wrong field, while the error passes up through the parts
 * of a request: "properties[A]", then "entity", then "operations[3]". Returns the error's status.
 */
enum status error_in_field(struct error *err, const char *step);
enum status error_in_element(struct error *err, const char *list, size_t index);

/* "INVALID" for STATUS_INVALID, and so on. */
const char *status_name(enum status status);

/*
 * Evaluate a call that returns a status; return from this function unless it is STATUS_OK. The
 * memory and objects that the return skips must belong to an arena or a cleanup guard.
 */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        enum status try_status = (call);                                                                     \
        if (try_status != STATUS_OK)                                                                         \
            return try_status;                                                                               \
    } while (0)

#endif
