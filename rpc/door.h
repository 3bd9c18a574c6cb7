/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - which connections of a server are accepted, and which are closed, before the core sees them.
 *
 * The core accepts and reads by itself, and bounds neither. This program has an accept4, a recvmsg, a close and an
 * SSL_read of its own (socket_calls.c), which the dynamic linker prefers: they ask the door about sockets that it knows,
 * and are the kernel's and OpenSSL's own for all others. So what a connection sends is looked at where the core would
 * have got it, in the same thread and without a copy, whether TLS is spoken or not.
 *
 *   accepted --> unauthenticated --door_authenticate--> authenticated
 *                      |                                     |
 *                      '-------> hung up <-------------------'        the core then closes it
 *
 * A connection is authenticated once the server has admitted a call on it. Peers on Unix sockets count as such from the
 * start: the file's permissions have let them in. Internal to rpc/; all functions may be called from any thread.
 */
#ifndef RPC_DOOR_H
#define RPC_DOOR_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/str.h"
#include "rpc/door_rules.h"

struct door;
struct door_connection;

struct door_options {
    bool is_tls;
    int max_connections; /* 0: not bounded, as below */
    int max_per_address;
    int64_t first_call_us; /* so soon the first call must have been answered */
};

struct door_numbers {
    int connections, authenticated;
    uint64_t reasons[DOOR_REASONS]; /* connections refused and hung up on, by reason */
};

/* Own a door; door_close once its sockets are closed. */
struct door *door_open(const struct door_options *options);
void door_close(struct door *door);

/* Sockets on which the calling thread listens between these two are this door's. */
void door_listen_begin(struct door *door);
void door_listen_end(void);

/* Whether the core has called our listen for this door: else it goes other ways, and nothing here has an effect. */
bool door_has_listener(const struct door *door);

void door_read_numbers(struct door *door, struct door_numbers *out);

/*
 * Hang up on the connection that has most on its account: among those that are not authenticated, or, with `all` and
 * if there are none of these, among all. false: there is none.
 */
bool door_shed(struct door *door, bool all);

/* A second has passed: what connections have sent before counts half, for door_shed. */
void door_age(struct door *door);

/* ---- calls ---- */

/* Whether calls are to be counted at their connections: while some of these are unauthenticated. */
bool door_counts_calls(const struct door *door);

/*
 * A call has come from this peer, as grpc_call_get_peer names it. NULL: its connection is not known, or has too many
 * calls open, and was hung up on. Else it stays valid until door_leave.
 */
struct door_connection *door_enter(struct door *door, struct str peer);

/*
 * The call's method needs no credential. false: as many such calls are open on the connection as may be. It is counted
 * in either case, until door_leave.
 */
bool door_enter_open(struct door_connection *connection, int max);

/* Something was answered on it, other than an error. */
void door_note_answer(struct door_connection *connection);

/* The call is gone; was_open: door_enter_open has counted it. */
void door_leave(struct door_connection *connection, bool was_open);

/* A call on it has been admitted. */
void door_authenticate(struct door_connection *connection);

/* ---- sockets: for socket_calls.c ---- */

/* NULL: not one of ours. */
struct door *door_of_listener(int socket);
struct door_connection *door_of_socket(int socket);
void door_note_listener(int socket);

/* Whether to let in what was accepted; false: close it. */
bool door_admit(struct door *door, int socket, const struct sockaddr *address);

/* accept4 has found no descriptor: take what waits, and close it. false: nothing waits, or nothing can be done. */
bool door_turn_away(struct door *door, int listener);

bool door_is_tls(const struct door_connection *connection);

/* What the connection's reader has read. false: hang up. */
bool door_look(struct door_connection *connection, const void *bytes, size_t length);

/* Whether the door has hung up on it. */
bool door_has_hung_up(const struct door_connection *connection);

/* The socket is about to be closed. */
void door_forget(struct door_connection *connection);

#endif
