/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network_address.c - see the header.
 */
#include "domain/access/network_address.h"

#include <arpa/inet.h>
#include <string.h>

enum { MAX_TEXT = 64 };

static const uint8_t mapped_prefix[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF };

static bool is_mapped(const struct network_address *address)
{
    return memcmp(address->bytes, mapped_prefix, sizeof(mapped_prefix)) == 0;
}

bool network_address_parse(struct str text, struct network_address *out)
{
    char copy[MAX_TEXT];
    const char *zone = text.len ? memchr(text.data, '%', text.len) : NULL;
    struct network_address address;

    if (zone)
        text.len = (size_t)(zone - text.data);
    if (text.len == 0 || text.len >= sizeof(copy) || memchr(text.data, '\0', text.len))
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    memcpy(address.bytes, mapped_prefix, sizeof(mapped_prefix));
    if (inet_pton(AF_INET, copy, address.bytes + sizeof(mapped_prefix)) != 1 &&
        inet_pton(AF_INET6, copy, address.bytes) != 1)
        return false;
    *out = address;
    return true;
}

struct str network_address_format(const struct network_address *address, struct arena *arena)
{
    char text[INET6_ADDRSTRLEN];
    const char *done = is_mapped(address)
                           ? inet_ntop(AF_INET, address->bytes + sizeof(mapped_prefix), text, sizeof(text))
                           : inet_ntop(AF_INET6, address->bytes, text, sizeof(text));

    return arena_copy(arena, str_of(done));
}

static int compare_addresses(const struct network_address *a, const struct network_address *b)
{
    return memcmp(a->bytes, b->bytes, NETWORK_ADDRESS_BYTES);
}

bool network_range_parse(struct str text, struct network_range *out)
{
    const char *dash = text.len ? memchr(text.data, '-', text.len) : NULL;
    struct str low = text, high = text;
    struct network_range range;

    if (dash) {
        low.len = (size_t)(dash - text.data);
        high = str_from(text, low.len + 1);
    }
    if (!network_address_parse(low, &range.low) || !network_address_parse(high, &range.high) ||
        compare_addresses(&range.low, &range.high) > 0 || is_mapped(&range.low) != is_mapped(&range.high))
        return false;
    *out = range;
    return true;
}

bool network_range_contains(const struct network_range *range, const struct network_address *address)
{
    return compare_addresses(&range->low, address) <= 0 && compare_addresses(address, &range->high) <= 0;
}

/* Replace "%5B" and the like by the characters they stand for; false if the result does not fit. */
static bool unescape_percent(struct str text, char out[static MAX_TEXT], size_t *len)
{
    *len = 0;
    for (size_t i = 0; i < text.len; i++) {
        struct str rest = str_from(text, i);
        char c = text.data[i];

        if (str_starts_with(rest, STR_LITERAL("%5B")))
            c = '[';
        else if (str_starts_with(rest, STR_LITERAL("%5D")))
            c = ']';
        if (c != text.data[i] || str_starts_with(rest, STR_LITERAL("%25")))
            i += 2;
        if (*len == MAX_TEXT)
            return false;
        out[(*len)++] = c;
    }
    return true;
}

bool network_address_of_peer(struct str peer, struct network_address *out)
{
    char text[MAX_TEXT];
    struct str address;
    size_t len;

    if (!str_starts_with(peer, STR_LITERAL("ipv4:")) && !str_starts_with(peer, STR_LITERAL("ipv6:")))
        return false;
    if (!unescape_percent(str_from(peer, 5), text, &len))
        return false;
    while (len > 0 && text[len - 1] != ':')
        len--;
    if (len < 2)
        return false;
    address = str_of_bytes(text, len - 1);
    if (address.data[0] == '[') {
        if (address.data[address.len - 1] != ']')
            return false;
        address = str_of_bytes(address.data + 1, address.len - 2);
    }
    return network_address_parse(address, out);
}
