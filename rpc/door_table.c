/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door_table.c - see the header.
 */
#include "rpc/door_table.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum { V4_AT = 12, NETWORK_BYTES = 8, CALL_BYTES = 16 * 1024, NAME_BYTES = 64 };

static const uint8_t mapped[V4_AT] = { [10] = 0xff, [11] = 0xff };

/* ---- addresses ---- */

static void set_v4(struct door_address *out, const struct in_addr *address)
{
    memcpy(out->bytes, mapped, sizeof(mapped));
    memcpy(out->bytes + V4_AT, address, sizeof(*address));
    out->is_known = true;
}

static void set_v6(struct door_address *out, const struct in6_addr *address)
{
    memcpy(out->bytes, address, sizeof(*address));
    out->is_known = true;
}

void door_address_read(const struct sockaddr *address, struct door_address *out)
{
    *out = (struct door_address){ 0 };
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)address;

        set_v4(out, &v4->sin_addr);
        out->port = ntohs(v4->sin_port);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)address;

        set_v6(out, &v6->sin6_addr);
        out->port = ntohs(v6->sin6_port);
    }
}

/*
 * Copy the host, which stands between the scheme and the port, without brackets (also written %5B and %5D)
 * and without an IPv6 zone.
 */
static bool copy_host(struct str peer, size_t from, size_t to, char out[NAME_BYTES])
{
    size_t length = 0;

    for (size_t i = from; i < to; i++) {
        bool is_escape = peer.data[i] == '%' && i + 2 < to && peer.data[i + 1] == '5';

        if (is_escape)
            i += 2;
        if (is_escape || peer.data[i] == '[' || peer.data[i] == ']')
            continue;
        if (peer.data[i] == '%')
            break;
        if (length == NAME_BYTES - 1)
            return false;
        out[length++] = peer.data[i];
    }
    out[length] = '\0';
    return true;
}

static bool read_port(struct str peer, size_t at, uint16_t *out)
{
    unsigned long number = 0;

    for (size_t i = at; i < peer.len; i++) {
        if (peer.data[i] < '0' || peer.data[i] > '9')
            return false;
        number = number * 10 + (unsigned long)(peer.data[i] - '0');
        if (number > UINT16_MAX)
            return false;
    }
    *out = (uint16_t)number;
    return at < peer.len;
}

bool door_address_of_peer(struct str peer, struct door_address *out)
{
    bool is_v4 = str_starts_with(peer, STR_LITERAL("ipv4:"));
    size_t colon = peer.len, host = sizeof("ipv4:") - 1;
    char name[NAME_BYTES];
    union {
        struct in_addr v4;
        struct in6_addr v6;
    } number;

    *out = (struct door_address){ 0 };
    while (colon > 0 && peer.data[colon - 1] != ':')
        colon--;
    if ((!is_v4 && !str_starts_with(peer, STR_LITERAL("ipv6:"))) || colon <= host ||
        !read_port(peer, colon, &out->port) || !copy_host(peer, host, colon - 1, name) ||
        inet_pton(is_v4 ? AF_INET : AF_INET6, name, &number) != 1)
        return false;
    if (is_v4)
        set_v4(out, &number.v4);
    else
        set_v6(out, &number.v6);
    return true;
}

static size_t host_bytes(const struct door_address *address)
{
    return memcmp(address->bytes, mapped, sizeof(mapped)) == 0 ? sizeof(address->bytes) : NETWORK_BYTES;
}

bool door_address_equal(const struct door_address *a, const struct door_address *b)
{
    return a->is_known && b->is_known && host_bytes(a) == host_bytes(b) &&
           memcmp(a->bytes, b->bytes, host_bytes(a)) == 0;
}

void door_address_format(const struct door_address *address, char out[DOOR_ADDRESS_TEXT_BYTES])
{
    bool is_v4 = host_bytes(address) == sizeof(address->bytes);

    if (!address->is_known || !inet_ntop(is_v4 ? AF_INET : AF_INET6, address->bytes + (is_v4 ? V4_AT : 0),
                                  out, DOOR_ADDRESS_TEXT_BYTES))
        strcpy(out, "unix");
}

/* FNV-1a */
static uint32_t mix(uint32_t hash, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * UINT32_C(16777619);
    return hash ^ (hash >> 15);
}

static uint32_t hash_host(const struct door_address *address)
{
    return mix(UINT32_C(2166136261), address->bytes, host_bytes(address));
}

static uint32_t hash_peer(const struct door_address *address)
{
    const uint8_t port[] = { (uint8_t)(address->port >> 8), (uint8_t)address->port };

    return mix(mix(UINT32_C(2166136261), address->bytes, sizeof(address->bytes)), port, sizeof(port));
}

/* ---- lists ---- */

static struct door_connection **bucket_of_peer(struct door_table *table, const struct door_address *address)
{
    return &table->by_peer[hash_peer(address) % DOOR_TABLE_BUCKETS];
}

static struct door_connection **bucket_of_host(struct door_table *table, const struct door_address *address)
{
    return &table->by_address[hash_host(address) % DOOR_TABLE_BUCKETS];
}

static void list_unauthenticated(struct door_table *table, struct door_connection *connection)
{
    connection->is_listed = true;
    connection->older = table->newest;
    if (table->newest)
        table->newest->newer = connection;
    else
        table->oldest = connection;
    table->newest = connection;
}

void door_table_add(struct door_table *table, struct door_connection *connection)
{
    struct door_connection **peers = bucket_of_peer(table, &connection->address);
    struct door_connection **hosts = bucket_of_host(table, &connection->address);

    connection->next_of_peer = *peers;
    *peers = connection;
    connection->next_of_address = *hosts;
    *hosts = connection;
    connection->next = table->all;
    if (table->all)
        table->all->previous = connection;
    table->all = connection;
    table->count++;
    if (!connection->is_authenticated)
        list_unauthenticated(table, connection);
}

void door_table_set_aside(struct door_table *table, struct door_connection *connection)
{
    if (!connection->is_listed)
        return;
    connection->is_listed = false;
    if (connection->older)
        connection->older->newer = connection->newer;
    else
        table->oldest = connection->newer;
    if (connection->newer)
        connection->newer->older = connection->older;
    else
        table->newest = connection->older;
    connection->newer = connection->older = NULL;
}

void door_table_remove(struct door_table *table, struct door_connection *connection)
{
    struct door_connection **at = bucket_of_peer(table, &connection->address);

    door_table_set_aside(table, connection);
    while (*at != connection)
        at = &(*at)->next_of_peer;
    *at = connection->next_of_peer;
    at = bucket_of_host(table, &connection->address);
    while (*at != connection)
        at = &(*at)->next_of_address;
    *at = connection->next_of_address;
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        table->all = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    table->count--;
}

/* ---- questions ---- */

struct door_connection *door_table_find(struct door_table *table, const struct door_address *peer)
{
    struct door_connection *at = *bucket_of_peer(table, peer);

    while (at && (at->address.port != peer->port ||
                     memcmp(at->address.bytes, peer->bytes, sizeof(peer->bytes)) != 0))
        at = at->next_of_peer;
    return at;
}

static const struct door_connection *first_of_host(
    const struct door_table *table, const struct door_address *address)
{
    return table->by_address[hash_host(address) % DOOR_TABLE_BUCKETS];
}

int door_table_count_address(const struct door_table *table, const struct door_address *address)
{
    int count = 0;

    for (const struct door_connection *at = first_of_host(table, address); at; at = at->next_of_address)
        count += door_address_equal(&at->address, address);
    return count;
}

bool door_table_has_authenticated(const struct door_table *table, const struct door_address *address)
{
    for (const struct door_connection *at = first_of_host(table, address); at; at = at->next_of_address)
        if (at->is_authenticated && door_address_equal(&at->address, address))
            return true;
    return false;
}

struct door_barred *door_table_barred(struct door_table *table, const struct door_address *address)
{
    return &table->barred[hash_host(address) % DOOR_TABLE_BARRED];
}

/* A connection that was hung up on costs nothing any more. */
static uint64_t cost_of(const struct door_connection *connection)
{
    if (atomic_load(&connection->hung_up))
        return 0;
    return 1 + atomic_load(&connection->received) + (uint64_t)connection->calls * CALL_BYTES;
}

static struct door_connection *worst_of(struct door_table *table, bool is_authenticated)
{
    struct door_connection *worst = NULL;

    for (struct door_connection *at = table->all; at; at = at->next)
        if (at->is_authenticated == is_authenticated && cost_of(at) > (worst ? cost_of(worst) : 0))
            worst = at;
    return worst;
}

struct door_connection *door_table_worst(struct door_table *table, bool all)
{
    struct door_connection *worst = worst_of(table, false);

    return worst || !all ? worst : worst_of(table, true);
}

void door_table_age(struct door_table *table)
{
    for (struct door_connection *at = table->all; at; at = at->next)
        atomic_store(&at->received, atomic_load(&at->received) / 2);
}
