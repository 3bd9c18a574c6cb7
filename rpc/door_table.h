/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door_table.h - the connections of a door, found by peer and by address, and the addresses that are refused
 * for a time. Internal to rpc/. Call all functions with the door's lock held.
 */
#ifndef RPC_DOOR_TABLE_H
#define RPC_DOOR_TABLE_H

#include <stdatomic.h>
#include <sys/socket.h>

#include "base/str.h"
#include "rpc/door_rules.h"

enum { DOOR_TABLE_BUCKETS = 4096, DOOR_TABLE_BARRED = 1024 };

/* The address of a peer. is_known false: a Unix socket, or another family than IPv4 and IPv6. */
struct door_address {
    uint8_t bytes[16]; /* IPv6; an IPv4 address as its IPv4-mapped IPv6 address */
    uint16_t port;
    bool is_known;
};

enum { DOOR_ADDRESS_TEXT_BYTES = 64 };

/* Write the address as text: "192.0.2.7", "2001:db8::7" or "unix". */
void door_address_format(const struct door_address *address, char out[DOOR_ADDRESS_TEXT_BYTES]);

void door_address_read(const struct sockaddr *address, struct door_address *out);

/* Read a peer as the core names it: "ipv4:192.0.2.7:5000". false: not IPv4 and not IPv6. */
bool door_address_of_peer(struct str peer, struct door_address *out);

/*
 * Whether both addresses count as one host: the same IPv4 address, or the same first 64 bits of an IPv6
 * address.
 */
bool door_address_equal(const struct door_address *a, const struct door_address *b);

struct door_connection {
    struct door *door;
    int socket; /* -1: closed */
    int poller; /* the epoll instance that watches the socket; -1: none */
    struct door_address address;
    int references; /* references by the table and by calls */
    int calls;      /* counted calls that are open */
    int64_t accepted_us;
    atomic_bool is_authenticated;
    atomic_bool hung_up;
    int open_calls;                 /* those of `calls` whose methods need no credential */
    atomic_bool was_answered;       /* a reply other than an error was sent on it */
    atomic_uint_least64_t received; /* bytes received; halved every second */

    struct frame_scan scan; /* this and the next member: used by the thread that reads from the connection */
    struct door_used used;

    /* in the list of unauthenticated connections, which begins with the oldest */
    bool is_listed;
    struct door_connection *newer, *older;   /* neighbours in that list */
    struct door_connection *next_of_peer;    /* the next in its bucket by address and port */
    struct door_connection *next_of_address; /* the next in its bucket by address */
    struct door_connection *next, *previous; /* neighbours in the list of all connections */
};

struct door_barred {
    struct door_address address;
    int64_t until_us;
    int doublings;
};

/* All members zero: an empty table. */
struct door_table {
    int count;
    struct door_connection *all;
    struct door_connection *oldest, *newest; /* the list of unauthenticated connections */
    struct door_connection *by_peer[DOOR_TABLE_BUCKETS], *by_address[DOOR_TABLE_BUCKETS];
    /* an address has one slot, which another address may take over */
    struct door_barred barred[DOOR_TABLE_BARRED];
};

void door_table_add(struct door_table *table, struct door_connection *connection);
void door_table_remove(struct door_table *table, struct door_connection *connection);

/* Take the connection off the list of unauthenticated connections. */
void door_table_set_aside(struct door_table *table, struct door_connection *connection);

/* Find a connection by its peer. NULL: there is none. */
struct door_connection *door_table_find(struct door_table *table, const struct door_address *peer);

int door_table_count_address(const struct door_table *table, const struct door_address *address);
bool door_table_has_authenticated(const struct door_table *table, const struct door_address *address);

/* The slot of this address; another address may occupy it. */
struct door_barred *door_table_barred(struct door_table *table, const struct door_address *address);

/* The connection with the highest cost of those not hung up on; see door_shed. NULL: none. */
struct door_connection *door_table_worst(struct door_table *table, bool all);

/* Halve the received bytes of every connection. Call it once a second. */
void door_table_age(struct door_table *table);

#endif
