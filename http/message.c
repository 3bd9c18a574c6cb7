/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - see the header.
 */
#include "http/message.h"

#include <string.h>
#include <strings.h>

bool http_message_same_text(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || strncasecmp(a.data, b.data, a.len) == 0);
}

static const struct http_header *find_header(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (http_message_same_text(request->headers[i].name, str_of(name)))
            return &request->headers[i];
    return NULL;
}

struct str http_request_header(const struct http_request *request, const char *name)
{
    const struct http_header *header = find_header(request, name);

    return header ? header->value : STR_EMPTY;
}

bool http_request_has_header(const struct http_request *request, const char *name)
{
    return find_header(request, name) != NULL;
}

static struct str without_space(struct str text)
{
    while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = str_from(text, 1);
    while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
        text.len--;
    return text;
}

/* "q=0", "q=0.0" and so on: the client does not want it. */
static bool is_unwanted(struct str parameters)
{
    while (parameters.len > 0) {
        struct str one = without_space(str_take(&parameters, ';'));

        if (one.len < 3 || (one.data[0] | 0x20) != 'q' || one.data[1] != '=')
            continue;
        one = str_from(one, 2);
        while (one.len > 0 && (one.data[0] == '0' || one.data[0] == '.'))
            one = str_from(one, 1);
        return one.len == 0;
    }
    return false;
}

static bool list_has(struct str list, struct str token)
{
    while (list.len > 0) {
        struct str parameters = str_take(&list, ',');
        struct str name = without_space(str_take(&parameters, ';'));

        if (http_message_same_text(name, token) && !is_unwanted(parameters))
            return true;
    }
    return false;
}

bool http_request_header_lists(const struct http_request *request, const char *name, const char *token)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (http_message_same_text(request->headers[i].name, str_of(name)) &&
            list_has(request->headers[i].value, str_of(token)))
            return true;
    return false;
}

bool http_request_is(const struct http_request *request, const char *method)
{
    return str_equal(request->method, str_of(method));
}

static bool is_one_line(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\r' || text.data[i] == '\n' || text.data[i] == '\0')
            return false;
    return true;
}

void http_reply_add_header(struct http_reply *reply, struct arena *arena, const char *name, struct str value)
{
    struct http_header *headers;

    if (!is_one_line(value))
        return;
    headers = ARENA_ARRAY(arena, struct http_header, reply->header_count + 1);
    if (reply->header_count > 0)
        memcpy(headers, reply->headers, reply->header_count * sizeof(*headers));
    headers[reply->header_count] =
        (struct http_header){ arena_copy(arena, str_of(name)), arena_copy(arena, value) };
    reply->headers = headers;
    reply->header_count++;
}

void http_reply_reset(struct http_reply *reply)
{
    reply->status = 0;
    reply->headers = NULL;
    reply->header_count = 0;
    reply->body.len = 0;
}
