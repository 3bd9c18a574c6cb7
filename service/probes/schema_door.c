/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_door.c - see the header. The reply is a FileDescriptorSet with every file that the public protos import. It
 * needs no credential, as reflection needs none: it has nothing but what the sources publish.
 */
#include "service/probes/schema_door.h"

#include "proto/public_descriptors.h"

enum { OK = 200, WRONG_VERB = 405 };

static enum http_found find_schema(struct http_call *call)
{
    struct http_exchange *exchange = call->exchange;
    struct http_reply *reply = &exchange->reply;
    bool reads = http_request_is(&exchange->request, "GET") || http_request_is(&exchange->request, "HEAD");

    if (!str_equal(exchange->request.path, STR_LITERAL("/schema.binpb")))
        return HTTP_FOUND_NOTHING;
    if (!reads) {
        http_reply_add_header(reply, &exchange->arena, "Allow", STR_LITERAL("GET, HEAD"));
        reply->status = WRONG_VERB;
        return HTTP_FOUND_REPLY;
    }
    http_reply_add_header(reply, &exchange->arena, "Content-Type", STR_LITERAL("application/protobuf"));
    reply->status = OK;
    buf_append(&reply->body, str_of_bytes(public_descriptors, public_descriptors_bytes));
    return HTTP_FOUND_REPLY;
}

const struct http_door schema_door = {
    .name = "schema",
    .find = find_schema,
};
