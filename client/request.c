/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - see the header.
 */
#include "client/request.h"

#include "api/json/json_forms.h"

void request_begin(struct request *request)
{
    *request = (struct request){ .page_from = 0 };
    buf_init(&request->buf, NULL);
    buf_append_byte(&request->buf, '{');
}

void request_end(struct request *request)
{
    if (request)
        buf_cleanup(&request->buf);
}

static void add_name(struct request *request, const char *name)
{
    buf_format(&request->buf, "%s\"%s\":", request->buf.len > 1 ? "," : "", name);
}

void request_text(struct request *request, const char *name, const char *text)
{
    if (!text)
        return;
    add_name(request, name);
    json_forms_write_text(&request->buf, str_of(text));
}

void request_number(struct request *request, const char *name, int64_t number)
{
    if (number == 0)
        return;
    add_name(request, name);
    buf_format(&request->buf, "%lld", (long long)number);
}

void request_flag(struct request *request, const char *name, bool flag)
{
    if (flag)
        request_json_member(request, name, "true");
}

void request_json_member(struct request *request, const char *name, const char *json)
{
    add_name(request, name);
    buf_append(&request->buf, str_of(json));
}

void request_page_token(struct request *request, const char *token)
{
    if (request->page_from > 0)
        request->buf.len = request->page_from;
    request->page_from = request->buf.len;
    request_text(request, "pageToken", token);
}

const char *request_json(struct request *request)
{
    buf_append(&request->buf, str_of_bytes("}", 2)); /* with its NUL */
    request->buf.len -= 2;
    return request->buf.data;
}
