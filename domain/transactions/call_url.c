/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_url.c - see the header.
 */
#include "domain/transactions/call_url.h"

#include <stddef.h>
#include <string.h>

#include "base/digits.h"

enum { MAX_URL_BYTES = 2048, MAX_HOST_BYTES = 253, MAX_PORT = 65535, HTTP_PORT = 80, HTTPS_PORT = 443 };

static const char http[] = "http://", https[] = "https://";

static bool is_of_name(char c)
{
    return digits_is_decimal(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' || c == '.' ||
           c == '_';
}

static bool is_of_ipv6(char c)
{
    return digits_hex_value(c) >= 0 || c == ':' || c == '.';
}

/* Move the text behind the host at its beginning. */
static bool take_host(struct str *text, struct str *host)
{
    bool is_ipv6 = text->len > 0 && text->data[0] == '[';
    size_t len = is_ipv6 ? 1 : 0;

    while (len < text->len && (is_ipv6 ? is_of_ipv6(text->data[len]) : is_of_name(text->data[len])))
        len++;
    if (is_ipv6) {
        if (len < 4 || len == text->len || text->data[len] != ']')
            return false;
        len++;
    }
    *host = str_of_bytes(text->data, len);
    *text = str_from(*text, len);
    return len > 0 && len <= MAX_HOST_BYTES;
}

static bool take_address(struct str *text, int default_port, struct call_address *out)
{
    uint64_t port = (uint64_t)default_port;

    if (!take_host(text, &out->host))
        return false;
    if (text->len > 0 && text->data[0] == ':') {
        *text = str_from(*text, 1);
        if (!digits_take_unsigned(text, MAX_PORT, &port) || port == 0)
            return false;
    }
    out->port = (int)port;
    return true;
}

static bool is_printable(struct str url)
{
    for (size_t i = 0; i < url.len; i++)
        if (url.data[i] <= ' ' || url.data[i] > '~' || url.data[i] == '\\' || url.data[i] == '#')
            return false;
    return true;
}

bool call_url_read(struct str url, struct call_address *out)
{
    bool is_http = str_starts_with(url, str_of(http)), is_https = str_starts_with(url, str_of(https));
    struct str rest;

    if ((!is_http && !is_https) || url.len > MAX_URL_BYTES || !is_printable(url))
        return false;
    rest = str_from(url, is_http ? sizeof(http) - 1 : sizeof(https) - 1);
    if (!take_address(&rest, is_http ? HTTP_PORT : HTTPS_PORT, out))
        return false;
    return rest.len == 0 || rest.data[0] == '/' || rest.data[0] == '?';
}

bool call_url_hosts_are_valid(const char *hosts)
{
    struct str rest = str_of(hosts);
    struct call_address address;

    do {
        if (!take_address(&rest, HTTPS_PORT, &address))
            return false;
        if (rest.len == 0)
            return true;
        if (rest.data[0] != ',')
            return false;
        rest = str_from(rest, 1);
    } while (true);
}

bool call_url_is_of_hosts(const char *hosts, const struct call_address *address)
{
    struct str rest = hosts ? str_of(hosts) : STR_EMPTY;
    struct call_address each;

    while (rest.len > 0) {
        struct str entry = str_take(&rest, ',');

        if (take_address(&entry, HTTPS_PORT, &each) && each.port == address->port &&
            str_equal_any_case(each.host, address->host))
            return true;
    }
    return false;
}
