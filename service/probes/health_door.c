/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health_door.c - see the header. The door has no methods: it answers every request from its headers.
 */
#include "service/probes/health_door.h"

#include "service/service.h"

enum { OK = 200, WRONG_VERB = 405, UNAVAILABLE = 503 };

static enum http_found find_page(struct http_call *call)
{
    struct http_exchange *exchange = call->exchange;
    struct http_reply *reply = &exchange->reply;
    bool reads = http_request_is(&exchange->request, "GET") || http_request_is(&exchange->request, "HEAD");

    if (!str_equal(exchange->request.path, STR_LITERAL("/healthz")))
        return HTTP_FOUND_NOTHING;
    http_reply_add_header(reply, &exchange->arena, "Content-Type", STR_LITERAL("text/plain"));
    if (!reads) {
        http_reply_add_header(reply, &exchange->arena, "Allow", STR_LITERAL("GET, HEAD"));
        buf_append(&reply->body, STR_LITERAL("only GET\n"));
        reply->status = WRONG_VERB;
        return HTTP_FOUND_REPLY;
    }
    reply->status = health_is_serving(&http_call_service(call)->health, false) ? OK : UNAVAILABLE;
    buf_append(&reply->body, reply->status == OK ? STR_LITERAL("ok\n") : STR_LITERAL("not serving\n"));
    return HTTP_FOUND_REPLY;
}

const struct http_door health_door = {
    .name = "health",
    .find = find_page,
};
