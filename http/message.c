/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - see the header.
 */
#include "http/message.h"

#include <string.h>

enum { HEADERS_AT_ONCE = 12 }; /* the list of a reply grows by so many */

static const struct http_header *find_header(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (str_equal_any_case(request->headers[i].name, str_of(name)))
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

/* Whether the parameters have "q=0", "q=0.0" and so on: the client does not want this element. */
static bool is_unwanted(struct str parameters)
{
    while (parameters.len > 0) {
        struct str one = str_trim(str_take(&parameters, ';'), " \t");

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
        struct str name = str_trim(str_take(&parameters, ';'), " \t");

        if (str_equal_any_case(name, token) && !is_unwanted(parameters))
            return true;
    }
    return false;
}

bool http_request_header_lists(const struct http_request *request, const char *name, const char *token)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (str_equal_any_case(request->headers[i].name, str_of(name)) &&
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
    size_t count = reply->header_count;

    if (!is_one_line(value))
        return;
    if (count % HEADERS_AT_ONCE == 0) {
        struct http_header *more = arena_alloc(arena, (count + HEADERS_AT_ONCE) * sizeof(*more));

        if (count > 0)
            memcpy(more, reply->headers, count * sizeof(*more));
        reply->headers = more;
    }
    reply->headers[count] = (struct http_header){ arena_copy(arena, str_of(name)), arena_copy(arena, value) };
    reply->header_count++;
}

void http_reply_reset(struct http_reply *reply)
{
    reply->status = 0;
    reply->headers = NULL;
    reply->header_count = 0;
    reply->body.len = 0;
}
