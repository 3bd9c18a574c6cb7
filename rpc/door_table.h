/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door_table.h - the connections of a door, found by peer and by address, and the addresses that are barred.
 * Internal to rpc/; the door's lock is held.
 */
#ifndef RPC_DOOR_TABLE_H
#define RPC_DOOR_TABLE_H

#include <stdatomic.h>
#include <sys/socket.h>

#include "base/str.h"
#include "rpc/door_rules.h"

enum { DOOR_TABLE_BUCKETS = 4096, DOOR_TABLE_BARRED = 1024 };

/* Where a peer is. is_known false: a Unix socket, or a family that is none of ours. */
struct door_address {
    uint8_t bytes[16]; /* IPv6; an IPv4 address is the one it maps to */
    uint16_t port;
    bool is_known;
};

enum { DOOR_ADDRESS_TEXT_BYTES = 64 };

/* "192.0.2.7", "2001:db8::7", "unix". */
void door_address_format(const struct door_address *address, char out[DOOR_ADDRESS_TEXT_BYTES]);

void door_address_read(const struct sockaddr *address, struct door_address *out);

/* "ipv4:192.0.2.7:5000", as the core names peers. false: none that is known. */
bool door_address_of_peer(struct str peer, struct door_address *out);

/* Whether both are one host: the same IPv4 address, or the same 64 bits of an IPv6 address. */
bool door_address_equal(const struct door_address *a, const struct door_address *b);

struct door_connection {
    struct door *door;
    int socket; /* -1: closed */
    struct door_address address;
    int references; /* the table, and calls */
    int calls;      /* open, of those that are counted */
    int64_t accepted_us;
    atomic_bool is_authenticated;
    atomic_bool hung_up;
    int open_calls;                 /* of these, the calls of methods that need no credential */
    atomic_bool was_answered;       /* it has got something other than an error */
    atomic_uint_least64_t received; /* bytes, halved every second */

    struct frame_scan scan; /* the reader's own, both */
    struct door_used used;

    bool is_listed;                          /* among the unauthenticated, the oldest first */
    struct door_connection *newer, *older;   /* those */
    struct door_connection *next_of_peer;    /* in its bucket by address and port */
    struct door_connection *next_of_address; /* in its bucket by address */
    struct door_connection *next, *previous; /* of all */
};

struct door_barred {
    struct door_address address;
    int64_t until_us;
    int doublings;
};

/* Zeroed: empty. */
struct door_table {
    int count;
    struct door_connection *all;
    struct door_connection *oldest, *newest; /* unauthenticated */
    struct door_connection *by_peer[DOOR_TABLE_BUCKETS], *by_address[DOOR_TABLE_BUCKETS];
    struct door_barred
        barred[DOOR_TABLE_BARRED]; /* an address has one slot, which another address may take over */
};

void door_table_add(struct door_table *table, struct door_connection *connection);
void door_table_remove(struct door_table *table, struct door_connection *connection);

/* Take it off the list of unauthenticated ones. */
void door_table_set_aside(struct door_table *table, struct door_connection *connection);

/* NULL: none. */
struct door_connection *door_table_find(struct door_table *table, const struct door_address *peer);

int door_table_count_address(const struct door_table *table, const struct door_address *address);
bool door_table_has_authenticated(const struct door_table *table, const struct door_address *address);

/* The slot of this address, even if it holds another address. */
struct door_barred *door_table_barred(struct door_table *table, const struct door_address *address);

/* The one that costs most, of those not hung up on; see door_shed. NULL: none. */
struct door_connection *door_table_worst(struct door_table *table, bool all);

/* A second has passed: what was received counts half. */
void door_table_age(struct door_table *table);

#endif
