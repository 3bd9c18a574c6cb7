/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_door.c - see the header. The URL, the verb and the version are read before the caller is known. The
 * table and keys that they name are checked later.
 */
#include "service/odata/odata_door.h"

#include "base/clock.h"
#include "base/digits.h"
#include "base/random.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_batch.h"
#include "service/odata/odata_call.h"
#include "service/odata/odata_cors.h"
#include "service/odata/odata_credential.h"
#include "service/odata/odata_methods.h"

enum { MAX_SECONDS = 30, US_PER_SECOND = 1000000 };

/* Make a random Guid of version 4. */
static void make_request_id(char out[static ODATA_REQUEST_ID_BYTES + 1])
{
    uint64_t high = random_bits(), low = random_bits();
    char *end = digits_write_hex(out, high >> 32, 8);

    *end++ = '-';
    end = digits_write_hex(end, high >> 16, 4);
    *end++ = '-';
    end = digits_write_hex(end, (high & 0x0FFF) | 0x4000, 4);
    *end++ = '-';
    end = digits_write_hex(end, (low >> 48 & 0x3FFF) | 0x8000, 4);
    *end++ = '-';
    end = digits_write_hex(end, low, 12);
    *end = '\0';
}

/* ---- accounts ---- */

/* Whether the name means the only account of a server without authentication. */
static bool is_open_account(struct str name)
{
    return str_equal(name, STR_LITERAL("devstoreaccount1")) || str_equal(name, STR_LITERAL("default"));
}

static enum status check_account(
    const struct http_call *http, const struct odata_call *call, struct error *err)
{
    if (!http_call_service(http)->authenticator.open || is_open_account(call->target.account))
        return STATUS_OK;
    return reason_set(err, REASON_RESOURCE_NOT_FOUND,
        "there is no such account: without authentication, requests name devstoreaccount1 or default");
}

/* ---- the request ---- */

static enum status read_deadline(struct http_call *http, struct str timeout, struct error *err)
{
    uint64_t seconds = MAX_SECONDS;

    if (timeout.len > 0 && !digits_parse_unsigned(timeout, UINT32_MAX, &seconds))
        return odata_error_refuse(err, ODATA_REFUSAL_INVALID_QUERY_PARAMETER_VALUE,
            "timeout is a number of seconds, of which more than 30 count as 30");
    if (seconds == 0 || seconds > MAX_SECONDS)
        seconds = MAX_SECONDS;
    http->deadline_us = clock_monotonic_us() + (int64_t)seconds * US_PER_SECOND;
    return STATUS_OK;
}

static struct odata_verb verb_of(const struct http_request *request)
{
    struct odata_verb verb = {
        .method = request->method,
        .tunnelled = http_request_header(request, "X-HTTP-Method"),
    };

    for (size_t i = 0; i < request->header_count; i++)
        verb.tunnelled_count += str_equal_any_case(request->headers[i].name, STR_LITERAL("X-HTTP-Method"));
    return verb;
}

static void set_base(const struct http_call *http, struct odata_call *call)
{
    const struct http_request *request = &http->exchange->request;
    struct str account = call->target.is_path_style ? str_from(call->target.raw_path, 1) : STR_EMPTY;

    account = str_take(&account, '/');
    call->view.base =
        ARENA_JOIN(&http->exchange->arena, request->is_tls ? STR_LITERAL("https://") : STR_LITERAL("http://"),
            http_request_header(request, "Host"), account.len > 0 ? STR_LITERAL("/") : STR_EMPTY, account);
    call->view.account = call->target.account;
}

enum status odata_door_read_request(struct http_call *http, struct odata_call *call, struct error *err)
{
    const struct http_request *request = &http->exchange->request;
    struct odata_verb verb = verb_of(request);

    TRY(odata_target_parse(
        http_request_header(request, "Host"), request->target, &http->exchange->arena, &call->target, err));
    TRY(odata_action_find(&verb, &call->target, &call->action, err));
    TRY(check_account(http, call, err));
    TRY(odata_format_check_version(http_request_header(request, "x-ms-version"), err));
    TRY(read_deadline(http, call->target.options.timeout, err));
    call->preference = odata_format_preference(http_request_header(request, "Prefer"));
    set_base(http, call);
    http->method = odata_methods_find(call->action);
    if (!http->method)
        return reason_set(err, REASON_NOT_IMPLEMENTED, "this version has no such operation");
    return STATUS_OK;
}

/*
 * Find the method. If a request cannot become a call, it still becomes one, which refuses itself when its
 * body has been read: if the client were answered while it still sends, its connection could be closed before
 * it reads the answer.
 */
static enum http_found find_method(struct http_call *http)
{
    struct odata_call *call = ARENA_NEW(&http->exchange->arena, struct odata_call);
    struct error *err = ARENA_NEW(&http->exchange->arena, struct error);

    make_request_id(call->request_id);
    call->action = ODATA_ACTION_COUNT;
    call->view.level = ODATA_LEVEL_MINIMAL;
    http->door_state = call;
    if (odata_door_read_request(http, call, err) != STATUS_OK) {
        if (call->action == ODATA_ACTION_PREFLIGHT) {
            odata_cors_answer_preflight(http);
            return HTTP_FOUND_REPLY;
        }
        call->refused = err;
        http->method = &odata_unknown_method;
    }
    return HTTP_FOUND_METHOD;
}

/*
 * Refuse a body that is too large for this protocol. The listener accepts larger ones, since other doors have
 * streams.
 */
static enum status check_body(struct http_call *http, struct str *message, bool *has_ended, struct error *err)
{
    const struct http_request *request = &http->exchange->request;

    *message = request->body;
    *has_ended = false;
    if (request->body.len <= LIMIT_REQUEST_BYTES)
        return STATUS_OK;
    return reason_set(err, REASON_REQUEST_BODY_TOO_LARGE, "the body has %zu bytes, at most %d are allowed",
        request->body.len, LIMIT_REQUEST_BYTES);
}

static void encode_error(
    struct http_call *http, const struct error *err, const struct entity *conflict, struct buf *out)
{
    (void)conflict;
    if (!odata_batch_write_error(http, err, out))
        odata_call_write_error(http, err, out);
}

const struct http_door odata_door = {
    .name = "odata",
    .methods = odata_methods,
    .method_count = ODATA_METHODS,
    .find = find_method,
    .read_credential = odata_credential_read,
    .decode_message = check_body,
    .encode_error = encode_error,
};
