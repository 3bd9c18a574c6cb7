/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_call.h - a request to the Azure Tables door, and functions that its handlers share.
 *
 * The door (odata_door.h) reads the URL and the headers before the method is known. The handlers of
 * service/handlers/odata get the result with odata_call_of.
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
    struct odata_view view;     /* table and selection are set by the handler */
    struct odata_writer writer; /* used by queries */
    struct error *refused;      /* why the request cannot become a call; NULL: it can */
    struct odata_batch *batch;  /* of $batch, set by decode: odata_batch.h */
    /* the call is an operation of a batch, and its reply a part of the batch's reply */
    bool is_part;
    const struct filter *filter;                 /* of a query that goes through an index */
    int64_t index_id;                            /* of the index that a query goes through; 0: none */
    bool is_empty;                               /* $top=0: the query returns no entities, only headers */
    char request_id[ODATA_REQUEST_ID_BYTES + 1]; /* a Guid, for the reply's headers and errors */
};

static inline struct odata_call *odata_call_of(const struct call_ctx *ctx)
{
    return ctx->http->door_state;
}

/* The request. Its body is empty before decode. */
static inline const struct http_request *odata_call_request(const struct call_ctx *ctx)
{
    return &ctx->http->exchange->request;
}

/* ---- decoding ---- */

/* Put the table of the URL into the operation and the view. TABLE_NOT_FOUND: no table can have this name. */
MUST_USE enum status odata_call_table(struct call_ctx *ctx, struct operation *operation, struct error *err);

/*
 * The key of the URL. OUT_OF_RANGE_INPUT, or the error of the live service: INVALID_INPUT for a slash;
 * RESOURCE_NOT_FOUND for other forbidden characters, if an entity is read.
 */
MUST_USE enum status odata_call_key(struct call_ctx *ctx, struct entity_key *out, struct error *err);

/*
 * Choose the level of metadata of a reply with a body, and whether it says when entities expire.
 *
 * STATUS_INVALID  as of odata_format_choose; INVALID_INPUT: x-tavola-expires is neither true nor left out
 */
MUST_USE enum status odata_call_format(struct call_ctx *ctx, struct error *err);

/*
 * Read If-Match. *given: whether the header was sent; if not, *out has no condition.
 *
 * STATUS_INVALID  INVALID_INPUT: neither a weak ETag nor "*", more than one ETag, or If-None-Match
 */
MUST_USE enum status odata_call_condition(
    struct call_ctx *ctx, struct condition *out, bool *given, struct error *err);

/* Refuse If-Match and If-None-Match for resources without an ETag (tables). */
MUST_USE enum status odata_call_refuse_conditions(struct call_ctx *ctx, struct error *err);

/*
 * Put one write into the operation, with a request id if the server is set to use the client's request ids.
 */
MUST_USE enum status odata_call_write(
    struct call_ctx *ctx, const struct write *write, struct operation *operation, struct error *err);

/* ---- encoding ---- */

/* Set the status of the reply and the headers that every reply has. */
void odata_call_begin_reply(struct http_call *http, int status);

void odata_call_add_header(const struct call_ctx *ctx, const char *name, struct str value);

/* Add Content-Type, Cache-Control and X-Content-Type-Options for a JSON body. */
void odata_call_add_json_headers(struct http_call *http, const char *content_type);

/* Add ETag and consistency token of the operation's only write. OUTCOME_UNKNOWN: as consistency_write. */
MUST_USE enum status odata_call_add_result(
    const struct call_ctx *ctx, const struct operation *operation, struct error *err);

/*
 * Begin the reply to an insertion. The header Prefer selects 201, or 204 with DataServiceId. link: the new
 * resource, relative to the account's address.
 */
void odata_call_begin_created(const struct call_ctx *ctx, struct str link);

/* Write an error as the whole reply. */
void odata_call_write_error(struct http_call *http, const struct error *err, struct buf *out);

#endif
