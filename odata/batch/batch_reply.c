/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_reply.c - see the header. The answers to a change set lie in a multipart body inside the reply's only
 * part; the answer to a GET is itself that part.
 */
#include "odata/batch/batch_reply.h"

#include <stdio.h>

#include "base/macros.h"
#include "base/random.h"
#include "odata/batch/multipart.h"

static void make_boundary(const char *prefix, char out[static BATCH_REPLY_BOUNDARY_BYTES])
{
    uint64_t high = random_bits(), low = random_bits();

    snprintf(out, BATCH_REPLY_BOUNDARY_BYTES, "%s_%08x-%04x-%04x-%04x-%012llx", prefix,
        (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xFFFF), (unsigned)(high & 0xFFFF),
        (unsigned)(low >> 48), (unsigned long long)(low & 0xFFFFFFFFFFFF));
}

static void write_boundary(const struct batch_reply *reply, bool is_inner, bool is_last)
{
    multipart_write_boundary(reply->out, str_of(is_inner ? reply->inner : reply->outer), is_last);
}

void batch_reply_begin(struct batch_reply *reply, bool is_change_set, struct buf *out)
{
    *reply = (struct batch_reply){ .out = out, .is_change_set = is_change_set };
    make_boundary("batchresponse", reply->outer);
    make_boundary("changesetresponse", reply->inner);
    if (!is_change_set)
        return;
    write_boundary(reply, false, false);
    buf_format(out, "Content-Type: multipart/mixed; boundary=%s\r\n\r\n", reply->inner);
}

/*
 * The reason phrase of a status, for people; clients read only the number. The table has each status that an
 * operation of a batch can get; a status without a row has an empty phrase.
 */
static const char *phrase_of(int status)
{
    static const struct {
        int status;
        const char *phrase;
    } phrases[] = {
        { 200, "OK" },
        { 201, "Created" },
        { 204, "No Content" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 409, "Conflict" },
        { 411, "Length Required" },
        { 412, "Precondition Failed" },
        { 413, "Content Too Large" },
        { 415, "Unsupported Media Type" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 503, "Service Unavailable" },
    };

    for (size_t i = 0; i < ARRAY_LEN(phrases); i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return "";
}

void batch_reply_add(struct batch_reply *reply, const struct batch_answer *answer)
{
    struct buf *out = reply->out;

    write_boundary(reply, reply->is_change_set, false);
    buf_append(
        out, STR_LITERAL("Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"));
    buf_format(out, "HTTP/1.1 %d %s\r\n", answer->status, phrase_of(answer->status));
    if (answer->content_id.len > 0)
        BUF_JOIN(out, STR_LITERAL("Content-ID: "), answer->content_id, STR_LITERAL("\r\n"));
    BUF_JOIN(out, answer->head, STR_LITERAL("\r\n"), answer->body, STR_LITERAL("\r\n"));
}

void batch_reply_end(struct batch_reply *reply)
{
    if (reply->is_change_set)
        write_boundary(reply, true, true);
    write_boundary(reply, false, true);
}

struct str batch_reply_type(const struct batch_reply *reply, struct arena *arena)
{
    return arena_format(arena, "multipart/mixed; boundary=%s", reply->outer);
}
