/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_batch_request.c - any bytes as the body of POST /$batch: it is refused, or it has 1 to 100 operations whose
 * parts lie inside the body, and a body that is written from them is read as the same operations.
 */
#include "base/buf.h"
#include "domain/limits.h"
#include "odata/batch/batch_request.h"
#include "odata/batch/multipart.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_batch_request;

#define TYPE STR_LITERAL("multipart/mixed; boundary=b")
#define INNER STR_LITERAL("no-corpus-has-this")

static void require_inside(struct str part, struct str body)
{
    fuzz_require(part.len == 0 || (part.data >= body.data && part.data + part.len <= body.data + body.len));
}

static struct str written(const struct batch_request *request, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    buf_format(&out, "--b\r\nContent-Type: multipart/mixed; boundary=%.*s\r\n\r\n", STR_ARG(INNER));
    for (size_t i = 0; i < request->count; i++) {
        const struct batch_operation *operation = &request->operations[i];

        multipart_write_boundary(&out, INNER, false);
        buf_append(&out, STR_LITERAL("Content-Type: application/http\r\n\r\n"));
        buf_append(&out, operation->method);
        buf_append_byte(&out, ' ');
        buf_append(&out, operation->url);
        buf_append(&out, STR_LITERAL("\r\n\r\n"));
        buf_append(&out, operation->body);
        buf_append(&out, STR_LITERAL("\r\n"));
    }
    multipart_write_boundary(&out, INNER, true);
    multipart_write_boundary(&out, STR_LITERAL("b"), true);
    return buf_str(&out);
}

static bool holds_boundary(const struct batch_request *request)
{
    for (size_t i = 0; i < request->count; i++)
        if (request->operations[i].body.len > 0 &&
            memmem(request->operations[i].body.data, request->operations[i].body.len, "--", 2))
            return true;
    return false;
}

static void check_again(const struct batch_request *request, struct arena *arena)
{
    struct batch_request again;

    fuzz_require(batch_request_read(TYPE, written(request, arena), arena, &again, NULL) == STATUS_OK);
    fuzz_require(again.count == request->count);
    for (size_t i = 0; i < again.count; i++) {
        fuzz_require(str_equal(again.operations[i].method, request->operations[i].method));
        fuzz_require(str_equal(again.operations[i].url, request->operations[i].url));
        fuzz_require(str_equal(again.operations[i].body, request->operations[i].body));
    }
}

void fuzz_batch_request(struct str input)
{
    struct batch_request request;
    struct arena arena;

    arena_init(&arena);
    if (batch_request_read(TYPE, input, &arena, &request, NULL) == STATUS_OK) {
        fuzz_require(request.count >= 1 && request.count <= LIMIT_BATCH_OPERATIONS);
        for (size_t i = 0; i < request.count; i++) {
            require_inside(request.operations[i].body, input);
            require_inside(request.operations[i].head, input);
            require_inside(batch_request_header(&request.operations[i], "If-Match"), input);
        }
        if (request.is_change_set && !holds_boundary(&request))
            check_again(&request, &arena);
    }
    arena_cleanup(&arena);
}
