/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_door.c - see the header.
 */
#include "service/page/page_door.h"

#include "service/page_files.h"

/*
 * The page may load scripts and styles and make calls to this address only. It loads nothing else, sends
 * forms nowhere, and cannot be framed.
 */
#define POLICY                                                                                               \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "           \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static const struct page_file {
    const char *path, *type;
    const struct embedded *file;
} page_files_served[] = {
    { "/", "text/html; charset=utf-8", &page_files_index },
    { "/style.css", "text/css; charset=utf-8", &page_files_style },
    { "/script.js", "text/javascript; charset=utf-8", &page_files_script },
};

static const struct page_file *find_file(struct str path)
{
    for (size_t i = 0; i < sizeof(page_files_served) / sizeof(page_files_served[0]); i++)
        if (str_equal(path, str_of(page_files_served[i].path)))
            return &page_files_served[i];
    return NULL;
}

static enum http_found find_page(struct http_call *call)
{
    static const struct {
        const char *name, *value;
    } headers[] = {
        { "Content-Security-Policy", POLICY },
        { "Cache-Control", "no-cache" },
        { "Referrer-Policy", "no-referrer" },
        { "X-Content-Type-Options", "nosniff" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
    };
    struct http_exchange *exchange = call->exchange;
    const struct page_file *found = find_file(exchange->request.path);

    if (!found ||
        !(http_request_is(&exchange->request, "GET") || http_request_is(&exchange->request, "HEAD")))
        return HTTP_FOUND_NOTHING;
    exchange->reply.status = 200;
    http_reply_add_header(&exchange->reply, &exchange->arena, "Content-Type", str_of(found->type));
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        http_reply_add_header(&exchange->reply, &exchange->arena, headers[i].name, str_of(headers[i].value));
    buf_append(&exchange->reply.body, str_of(found->file->text));
    return HTTP_FOUND_REPLY;
}

const struct http_door page_door = { .name = "page", .find = find_page };
