/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cors.c - see the header.
 */
#include "service/connect/cors.h"

#include <stdio.h>
#include <string.h>

#include "base/local_address.h"

enum { NO_CONTENT = 204, FORBIDDEN = 403, MAX_HOST_BYTES = 255 };

/* An origin without its scheme; empty if it has none of the two. */
static struct str host_of(struct str origin)
{
    static const char *const schemes[] = { "http://", "https://" };

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (str_starts_with(origin, str_of(schemes[i])))
            return str_from(origin, strlen(schemes[i]));
    return STR_EMPTY;
}

static bool is_origin(struct str text)
{
    struct str host = host_of(text);

    return host.len > 0 && !memchr(host.data, '/', host.len) && !memchr(host.data, ' ', host.len);
}

bool cors_origins_are_valid(const char *setting)
{
    struct str list = str_of(setting);

    if (strcmp(setting, "*") == 0)
        return true;
    do {
        if (!is_origin(str_trim(str_take(&list, ','), " ")))
            return false;
    } while (list.len > 0);
    return true;
}

/* Whether a server on this machine serves the page: "http://localhost:8080". */
static bool is_local(struct str origin)
{
    static const char *const hosts[] = { "http://localhost", "http://127.0.0.1", "http://[::1]",
        "https://localhost", "https://127.0.0.1", "https://[::1]" };

    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        struct str rest = str_from(origin, strlen(hosts[i]));

        if (str_starts_with(origin, str_of(hosts[i])) && (rest.len == 0 || rest.data[0] == ':'))
            return true;
    }
    return false;
}

bool cors_allows(const struct cors *cors, struct str origin)
{
    struct str list = str_of(cors->origins);

    if (!cors->origins)
        return cors->allows_local && is_local(origin);
    if (str_equal(list, STR_LITERAL("*")))
        return true;
    while (list.len > 0)
        if (str_equal_any_case(str_trim(str_take(&list, ','), " "), origin))
            return true;
    return false;
}

/* A Host without its port, which it may leave out. */
static struct str name_of(struct str host)
{
    const char *colon = memrchr(host.data, ':', host.len);

    return colon && host.data[host.len - 1] != ']' ? str_of_bytes(host.data, (size_t)(colon - host.data))
                                                   : host;
}

/* A name below localhost is one of this machine too (RFC 6761, 6.3). */
static bool is_local_host(struct str host)
{
    struct str name = name_of(host), below = STR_LITERAL(".localhost");
    char address[MAX_HOST_BYTES + 4];

    if (name.len > MAX_HOST_BYTES)
        return false;
    if (name.len > below.len && str_equal(str_from(name, name.len - below.len), below))
        return true;
    snprintf(address, sizeof(address), "%.*s:80", STR_ARG(name));
    return local_address_is(address);
}

bool cors_allows_host(const struct cors *cors, struct str host)
{
    struct str list = str_of(cors->origins ? cors->origins : "");

    if (!cors->checks_host || host.len == 0 || is_local_host(host) || str_equal(list, STR_LITERAL("*")))
        return true;
    while (list.len > 0)
        if (str_equal_any_case(host_of(str_trim(str_take(&list, ','), " ")), host))
            return true;
    return false;
}

void cors_add_headers(const struct cors *cors, struct http_exchange *exchange)
{
    struct str origin = http_request_header(&exchange->request, "Origin");

    if (origin.len == 0 || !cors_allows(cors, origin))
        return;
    http_reply_add_header(&exchange->reply, &exchange->arena, "Access-Control-Allow-Origin", origin);
    http_reply_add_header(&exchange->reply, &exchange->arena, "Vary", STR_LITERAL("Origin"));
    http_reply_add_header(&exchange->reply, &exchange->arena, "Access-Control-Expose-Headers",
        STR_LITERAL("Content-Encoding, Connect-Content-Encoding"));
}

void cors_answer_preflight(const struct cors *cors, struct http_exchange *exchange)
{
    struct http_reply *reply = &exchange->reply;

    reply->status = NO_CONTENT;
    cors_add_headers(cors, exchange);
    if (reply->header_count == 0) {
        reply->status = FORBIDDEN;
        return;
    }
    http_reply_add_header(
        reply, &exchange->arena, "Access-Control-Allow-Methods", STR_LITERAL("GET, POST, OPTIONS"));
    http_reply_add_header(reply, &exchange->arena, "Access-Control-Allow-Headers",
        STR_LITERAL(
            "Authorization, Content-Type, Content-Encoding, Connect-Protocol-Version, Connect-Timeout-Ms, "
            "Connect-Content-Encoding, Connect-Accept-Encoding, X-User-Agent"));
    http_reply_add_header(reply, &exchange->arena, "Access-Control-Max-Age", STR_LITERAL("7200"));
}
