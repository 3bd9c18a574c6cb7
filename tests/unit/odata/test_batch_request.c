/* SPDX-License-Identifier: Apache-2.0 */
/* test_batch_request.c - bodies of POST /$batch as clients send them, and as none should. */
#include "odata/batch/batch_request.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/macros.h"
#include "domain/reason.h"
#include "odata/batch/batch_reply.h"
#include "odata/batch/multipart.h"
#include "odata/odata_error.h"

#define TYPE "multipart/mixed; boundary=batch_1"
#define HTTP "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"

enum { GUID_BYTES = 36 };

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

/* As the SDK for JavaScript sends it. */
static const char two_changes[] =
    "--batch_1\r\n"
    "content-type: multipart/mixed; boundary=changeset_1\r\n\r\n\r\n"
    "--changeset_1\r\n"
    "content-type: application/http\r\n"
    "content-transfer-encoding: binary\r\n\r\n"
    "POST https://acme.example/people HTTP/1.1\r\n"
    "accept: application/json;odata=minimalmetadata\r\nprefer: return-no-content\r\n\r\n\r\n"
    "{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}\r\n"
    "--changeset_1\r\n"
    "content-type: application/http\r\n"
    "content-transfer-encoding: binary\r\n\r\n"
    "DELETE /acme/people(PartitionKey='p',RowKey='2') HTTP/1.1\r\n"
    "if-match: *\r\n\r\n"
    "--changeset_1--\r\n"
    "--batch_1--\r\n";

static void check_two_changes(const char *body)
{
    struct batch_request request;
    struct error err = { 0 };

    ck_assert_msg(batch_request_read(str_of(TYPE), str_of(body), &arena, &request, &err) == STATUS_OK, "%s",
        err.message);
    ck_assert(request.is_change_set);
    ck_assert_uint_eq(request.count, 2);
    ck_assert(str_equal(request.operations[0].method, STR_LITERAL("POST")));
    ck_assert(str_equal(request.operations[0].url, STR_LITERAL("https://acme.example/people")));
    ck_assert(
        str_equal(batch_request_header(&request.operations[0], "Prefer"), STR_LITERAL("return-no-content")));
    ck_assert(memmem(request.operations[0].body.data, request.operations[0].body.len,
        "{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}", 33));
    ck_assert(str_equal(request.operations[1].method, STR_LITERAL("DELETE")));
    ck_assert(str_equal(batch_request_header(&request.operations[1], "If-Match"), STR_LITERAL("*")));
    ck_assert_uint_eq(request.operations[1].body.len, 0);
    ck_assert_uint_eq(batch_request_header(&request.operations[1], "Prefer").len, 0);
}

/* The text with each `from` replaced. */
static const char *with(const char *text, const char *from, const char *to)
{
    struct buf out;
    const char *found;

    buf_init(&out, &arena);
    for (; (found = strstr(text, from)); text = found + strlen(from)) {
        buf_append(&out, str_of_bytes(text, (size_t)(found - text)));
        buf_append(&out, str_of(to));
    }
    buf_append(&out, str_of(text));
    buf_append_byte(&out, '\0');
    return out.data;
}

START_TEST(a_change_set_is_read)
{
    check_two_changes(two_changes);
}
END_TEST

static const struct {
    const char *from, *to;
} oddities[] = {
    { "\r\n", "\n" },
    { "--batch_1--\r\n", "--batch_1--" },
    { "--batch_1--\r\n", "--batch_1\r\n" },
    { "--batch_1--\r\n", "--batch_1 \n \r\n" },
    { "--batch_1--\r\n", "--batch_1--\r\nan epilogue\r\n--batch_1\r\n" },
    { "--batch_1\r\n", "a preamble\r\n\r\n--batch_12\r\n--batch_1\r\n" },
    { "--changeset_1\r\n", "--changeset_1 \t\r\n" },
    { "\r\n\r\n\r\n--changeset_1\r\n", "\r\n\r\n--changeset_1\r\n" },
    { "binary\r\n\r\n", "binary\r\n\r\n\r\n\r\n" },
    { "boundary=changeset_1", "charset=utf-8;  boundary=\"changeset_1\"" },
    { " HTTP/1.1", "" },
    { "content-transfer-encoding: binary\r\n", "" },
    { "application/http", "Application/HTTP; msgtype=request" },
    { "if-match: *", "If-MATCH:*  " },
};

START_TEST(oddities_of_clients_are_accepted)
{
    check_two_changes(with(two_changes, oddities[_i].from, oddities[_i].to));
}
END_TEST

static const char *read_failure(const char *type, const char *body)
{
    struct batch_request request;
    struct error err = { 0 };

    if (batch_request_read(str_of(type), str_of(body), &arena, &request, &err) == STATUS_OK)
        return "OK";
    ck_assert_str_eq(err.reason, "INVALID_INPUT");
    ck_assert_uint_eq(err.meta_count, 0);
    return arena_copy(&arena, str_of(err.message)).data;
}

static const struct {
    const char *from, *to, *message;
} faults[] = {
    { "--batch_1", "--batch_2", "it has no part" },
    { "--changeset_1", "--changeset_2", "the change set is empty" },
    { "DELETE ", "GET ", "a GET is not allowed in a change set" },
    { "multipart/mixed", "application/http", "METHOD URL" },
    { "multipart/mixed", "multipart/other", "an operation is a part" },
    { "application/http", "text/plain", "an operation is a part" },
    { "application/http", "multipart/mixed; boundary=deeper", "an operation is a part" },
    { "content-type: application/http\r\n", "", "an operation is a part" },
    { "POST https://acme.example/people", "POST", "METHOD URL" },
    { "POST https://acme.example/people HTTP/1.1", "POST", "METHOD URL" },
    { "/people(P", "/people (P", "a space, or its version" },
    { "HTTP/1.1", "HTTP/2", "a space, or its version" },
    { "content-transfer-encoding: binary\r\n", "Content-ID: a b\r\n", "a Content-ID" },
    { "--batch_1--\r\n", "", "the last boundary of the batch" },
    { "--batch_1--\r\n", "--batch_1\r\n" HTTP "GET /acme", "the last boundary of the batch" },
    { "--changeset_1--\r\n", "", "the last boundary of the change set" },
    { "--changeset_1--\r\n", "--changeset_1\r\n", "the last boundary of the change set" },
    { "--batch_1--", "--batch_1\r\n" HTTP "GET /acme/people HTTP/1.1\r\n\r\n--batch_1--", "exactly one" },
};

START_TEST(what_is_no_batch_is_refused)
{
    const char *message = read_failure(TYPE, with(two_changes, faults[_i].from, faults[_i].to));

    ck_assert_msg(strstr(message, faults[_i].message), "%s", message);
}
END_TEST

/* Wherever the body ends too early, also between two operations. */
START_TEST(a_body_that_is_cut_off_is_refused)
{
    size_t whole = strlen(two_changes) - strlen("\r\n"), older_end = whole - strlen("--");

    for (size_t bytes = 0; bytes < whole; bytes++) {
        const char *message = read_failure(TYPE, arena_copy(&arena, str_of_bytes(two_changes, bytes)).data);

        ck_assert_msg((strcmp(message, "OK") == 0) == (bytes == older_end), "%zu bytes: %s", bytes, message);
    }
}
END_TEST

START_TEST(an_empty_operation_is_refused)
{
    ck_assert(strstr(read_failure(TYPE, "--batch_1\r\n" HTTP "\r\n--batch_1--"), "is empty"));
    ck_assert(strstr(read_failure(TYPE, "--batch_1\r\n--batch_1--"), "an operation is a part"));
    ck_assert(strstr(read_failure(TYPE, "--batch_1--"), "it has no part"));
    ck_assert(strstr(read_failure(TYPE, ""), "it has no part"));
}
END_TEST

static const char *const bad_types[] = {
    "",
    "application/json",
    "multipart/mixed",
    "multipart/mixed; boundary=",
    "multipart/mixed; boundary=\"\"",
    "multipart/mixedup; boundary=batch_1",
    "multipart/mixed; boundary=a b",
    "multipart/mixed; xboundary=batch_1",
};

START_TEST(the_type_names_a_boundary)
{
    ck_assert(strstr(read_failure(bad_types[_i], two_changes), "its Content-Type"));
}
END_TEST

START_TEST(a_boundary_has_two_hundred_bytes)
{
    char type[512];
    struct str found;

    snprintf(type, sizeof(type), "multipart/mixed; boundary=%0200d", 7);
    ck_assert(multipart_boundary(str_of(type), &found));
    ck_assert_uint_eq(found.len, 200);
    snprintf(type, sizeof(type), "multipart/mixed; boundary=%0201d", 7);
    ck_assert(!multipart_boundary(str_of(type), &found));
}
END_TEST

START_TEST(a_single_get_is_read)
{
    struct batch_request request;

    ck_assert_int_eq(batch_request_read(str_of(TYPE),
                         STR_LITERAL("--batch_1\r\nContent-ID: 7\r\n" HTTP
                                     "GET http://h/acme/people(PartitionKey='',RowKey='') HTTP/1.1\r\n\r\n"
                                     "--batch_1--"),
                         &arena, &request, NULL),
        STATUS_OK);
    ck_assert(!request.is_change_set);
    ck_assert_uint_eq(request.count, 1);
    ck_assert(str_equal(request.operations[0].content_id, STR_LITERAL("7")));
    ck_assert(
        str_equal(request.operations[0].url, STR_LITERAL("http://h/acme/people(PartitionKey='',RowKey='')")));
    ck_assert(
        strstr(read_failure(TYPE, "--batch_1\r\n" HTTP "DELETE /acme/people HTTP/1.1\r\n\r\n--batch_1--"),
            "change set"));
}
END_TEST

static struct str many(int count)
{
    struct buf out;

    buf_init(&out, &arena);
    buf_append(&out, STR_LITERAL("--batch_1\nContent-Type: multipart/mixed; boundary=c\n\n"));
    for (int i = 0; i < count; i++)
        buf_format(&out, "--c\nContent-Type: application/http\n\nDELETE /acme/t%d\n\n", i);
    buf_append(&out, STR_LITERAL("--c--\n--batch_1--\n"));
    return buf_str(&out);
}

START_TEST(a_change_set_has_a_hundred_operations)
{
    struct batch_request request;
    struct error err = { 0 };

    ck_assert_int_eq(batch_request_read(str_of(TYPE), many(100), &arena, &request, &err), STATUS_OK);
    ck_assert_uint_eq(request.count, 100);
    ck_assert_int_eq(batch_request_read(str_of(TYPE), many(101), &arena, &request, &err), STATUS_INVALID);
    ck_assert_str_eq(
        err.message, "99:The batch request operation exceeds the maximum 100 changes per change set.");
    ck_assert_str_eq(err.meta[0].key, "operation_index");
    ck_assert_str_eq(err.meta[0].value, "99");
}
END_TEST

/* ---- replies ---- */

START_TEST(a_reply_has_the_form_that_clients_read)
{
    struct batch_reply reply;
    struct buf out;
    struct str type, text;
    const char *want;

    buf_init(&out, &arena);
    batch_reply_begin(&reply, true, &out);
    batch_reply_add(&reply,
        &(struct batch_answer){
            .status = 204, .content_id = STR_LITERAL("1"), .head = STR_LITERAL("ETag: W/\"1\"\r\n") });
    batch_reply_add(&reply, &(struct batch_answer){ .status = 201, .body = STR_LITERAL("{}") });
    batch_reply_end(&reply);
    type = batch_reply_type(&reply, &arena);
    want = arena_format(&arena,
        "--%s\r\n"
        "Content-Type: multipart/mixed; boundary=%s\r\n\r\n"
        "--%s\r\n" HTTP "HTTP/1.1 204 No Content\r\nContent-ID: 1\r\nETag: W/\"1\"\r\n\r\n\r\n"
        "--%s\r\n" HTTP "HTTP/1.1 201 Created\r\n\r\n{}\r\n"
        "--%s--\r\n--%s--\r\n",
        reply.outer, reply.inner, reply.inner, reply.inner, reply.inner, reply.outer)
               .data;
    text = arena_copy(&arena, buf_str(&out));

    ck_assert_str_eq(text.data, want);
    ck_assert(str_starts_with(type, STR_LITERAL("multipart/mixed; boundary=batchresponse_")));
    ck_assert_uint_eq(strlen(reply.outer), strlen("batchresponse_") + GUID_BYTES);
    ck_assert(str_starts_with(str_of(reply.inner), STR_LITERAL("changesetresponse_")));
    ck_assert_str_ne(reply.outer, reply.inner);
}
END_TEST

START_TEST(the_answer_to_a_get_lies_in_the_batch)
{
    struct batch_reply reply;
    struct multipart_reader reader;
    struct str boundary, part;
    struct buf out;

    buf_init(&out, &arena);
    batch_reply_begin(&reply, false, &out);
    batch_reply_add(&reply, &(struct batch_answer){ .status = 404, .body = STR_LITERAL("{\"a\":1}") });
    batch_reply_end(&reply);

    ck_assert(multipart_boundary(batch_reply_type(&reply, &arena), &boundary));
    reader = multipart_read(buf_str(&out), boundary);
    ck_assert(multipart_next(&reader, &part));
    ck_assert(str_equal(multipart_body(part), STR_LITERAL("HTTP/1.1 404 Not Found\r\n\r\n{\"a\":1}")));
    ck_assert(!multipart_next(&reader, &part));
}
END_TEST

static struct str status_line(int status)
{
    struct batch_reply reply;
    struct buf out;
    struct str rest;

    buf_init(&out, &arena);
    batch_reply_begin(&reply, false, &out);
    batch_reply_add(&reply, &(struct batch_answer){ .status = status });
    rest = multipart_body(buf_str(&out));
    return str_take(&rest, '\r');
}

static const char *const status_lines[] = {
    "HTTP/1.1 200 OK",
    "HTTP/1.1 400 Bad Request",
    "HTTP/1.1 401 Unauthorized",
    "HTTP/1.1 405 Method Not Allowed",
    "HTTP/1.1 411 Length Required",
    "HTTP/1.1 413 Content Too Large",
    "HTTP/1.1 415 Unsupported Media Type",
    "HTTP/1.1 503 Service Unavailable",
    "HTTP/1.1 418 ",
};

START_TEST(a_reason_phrase_fits_its_status)
{
    struct str line = status_line(atoi(status_lines[_i] + strlen("HTTP/1.1 ")));

    ck_assert_msg(str_equal(line, str_of(status_lines[_i])), "%.*s", STR_ARG(line));
}
END_TEST

START_TEST(the_status_of_each_error_has_a_phrase)
{
    for (int i = 0; i < ODATA_REFUSAL_COUNT + REASON_COUNT; i++) {
        struct error err = { 0 };
        int status;

        if (i < ODATA_REFUSAL_COUNT)
            (void)odata_error_refuse(&err, (enum odata_refusal)i, "refused");
        else
            (void)reason_set(&err, (enum reason)(i - ODATA_REFUSAL_COUNT), "refused");
        status = odata_error_find(&err)->http;
        ck_assert_msg(
            status_line(status).data[status_line(status).len - 1] != ' ', "%d of %s", status, err.reason);
    }
}
END_TEST

Suite *test_batch_request_suite(void)
{
    Suite *suite = suite_create("batch_request");
    TCase *tcase = tcase_create("batch_request");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_change_set_is_read);
    tcase_add_loop_test(tcase, oddities_of_clients_are_accepted, 0, ARRAY_LEN(oddities));
    tcase_add_loop_test(tcase, what_is_no_batch_is_refused, 0, ARRAY_LEN(faults));
    tcase_add_test(tcase, a_body_that_is_cut_off_is_refused);
    tcase_add_test(tcase, an_empty_operation_is_refused);
    tcase_add_loop_test(tcase, the_type_names_a_boundary, 0, ARRAY_LEN(bad_types));
    tcase_add_test(tcase, a_boundary_has_two_hundred_bytes);
    tcase_add_test(tcase, a_single_get_is_read);
    tcase_add_test(tcase, a_change_set_has_a_hundred_operations);
    tcase_add_test(tcase, a_reply_has_the_form_that_clients_read);
    tcase_add_test(tcase, the_answer_to_a_get_lies_in_the_batch);
    tcase_add_loop_test(tcase, a_reason_phrase_fits_its_status, 0, ARRAY_LEN(status_lines));
    tcase_add_test(tcase, the_status_of_each_error_has_a_phrase);
    suite_add_tcase(suite, tcase);
    return suite;
}
