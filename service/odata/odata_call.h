/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_call.h - a request to the Azure Tables door, and what its handlers share.
 *
 * The door (odata_door.h) reads the URL and the headers before the method is known; the handlers of service/handlers/odata find
 * the result with odata_call_of.
 */
#ifndef SERVICE_ODATA_ODATA_CALL_H
#define SERVICE_ODATA_ODATA_CALL_H

#include "odata/odata_action.h"
#include "odata/odata_entity.h"
#include "odata/odata_error.h"
#include "service/call.h"
#include "service/http/door.h"

enum { ODATA_REQUEST_ID_BYTES = 36 };

struct odata_batch;

struct odata_call {
    struct odata_target target;
    enum odata_action action;
    enum odata_preference preference;
    struct odata_view view;                      /* table and selection: set by the handler */
    struct odata_writer writer;                  /* of queries */
    struct error *refused;                       /* why the request cannot be a call; NULL: it is one */
    struct odata_batch *batch;                   /* of $batch, from decode on: odata_batch.h */
    bool is_part;                                /* of a batch: its reply is a part of the batch's */
    bool is_empty;                               /* of queries: $top=0 asks for nothing but the headers */
    char request_id[ODATA_REQUEST_ID_BYTES + 1]; /* a Guid, for the reply's headers and errors */
};

static inline struct odata_call *odata_call_of(const struct call_ctx *ctx)
{
    return ctx->http->door_state;
}

/* The request; its body is empty before decode. */
static inline const struct http_request *odata_call_request(const struct call_ctx *ctx)
{
    return &ctx->http->exchange->request;
}

/* ---- decoding ---- */

/* Put the table of the URL into the operation and the view. TABLE_NOT_FOUND: no table can have the name. */
MUST_USE enum status odata_call_table(struct call_ctx *ctx, struct operation *operation, struct error *err);

/*
 * The key of the URL. OUT_OF_RANGE_INPUT, or as the live service answers: INVALID_INPUT for a slash, and RESOURCE_NOT_FOUND for
 * other characters where an entity is read.
 */
MUST_USE enum status odata_call_key(struct call_ctx *ctx, struct entity_key *out, struct error *err);

/* Choose JSON's level for a reply with a body. */
MUST_USE enum status odata_call_format(struct call_ctx *ctx, struct error *err);

/*
 * Read If-Match. *given: whether the header was sent; without it *out has no condition.
 * INVALID_INPUT: no weak ETag and not "*", more than one, or If-None-Match
 */
MUST_USE enum status odata_call_condition(
    struct call_ctx *ctx, struct condition *out, bool *given, struct error *err);

/* Refuse If-Match and If-None-Match where there is no ETag: tables. */
MUST_USE enum status odata_call_refuse_conditions(struct call_ctx *ctx, struct error *err);

/* Fill the operation with one write, and with a request id where the service takes clients' ids for that. */
MUST_USE enum status odata_call_write(
    struct call_ctx *ctx, const struct write *write, struct operation *operation, struct error *err);

/* ---- encoding ---- */

/* Set the status of the reply, and the headers that every reply has. */
void odata_call_begin_reply(struct http_call *http, int status);

void odata_call_add_header(const struct call_ctx *ctx, const char *name, struct str value);

/* Add Content-Type, Cache-Control and X-Content-Type-Options of a JSON body. */
void odata_call_add_json_headers(struct http_call *http, const char *content_type);

/* Add ETag and the consistency token of the operation's only write. OUTCOME_UNKNOWN as consistency_write. */
MUST_USE enum status odata_call_add_result(
    const struct call_ctx *ctx, const struct operation *operation, struct error *err);

/*
 * Begin the reply to an insertion, by the header Prefer: 201, or 204 with DataServiceId. link: of what was inserted, relative to
 * the account's address.
 */
void odata_call_begin_created(const struct call_ctx *ctx, struct str link);

/* Write an error as the whole reply. */
void odata_call_write_error(struct http_call *http, const struct error *err, struct buf *out);

#endif
