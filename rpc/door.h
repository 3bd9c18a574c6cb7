/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - decides which connections of a server are accepted and which are hung up on, before the core sees
 * them; and how the connections of a server that stops end.
 *
 * gRPC's core accepts connections and reads from them by itself, and bounds neither. Therefore this program
 * defines accept4, listen, epoll_ctl, recvmsg, shutdown, close and SSL_read (socket_calls.c); the dynamic linker
 * prefers these to the functions of the C library and OpenSSL. For a socket that belongs to a door they ask the
 * door; for any other socket they call the original. So the bytes of a connection are inspected where the core
 * would have read them, in the same thread and without a copy, with and without TLS.
 *
 *   accepted --> unauthenticated --door_authenticate--> authenticated
 *                      |                                     |
 *                      '-------> hung up <-------------------'        the core then closes it
 *
 * A connection is authenticated once the server has admitted a call on it. A connection on a Unix socket
 * counts as authenticated from the start: the file's permissions have admitted its client. Internal to rpc/.
 * All functions may be called from any thread.
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
    int max_connections; /* 0: not bounded; the same for the members below */
    int max_per_address;
    int64_t first_call_us; /* time from the accept in which a first call must be answered */
};

struct door_numbers {
    int connections, authenticated;
    uint64_t reasons[DOOR_REASONS]; /* connections refused and hung up on, by reason */
};

/* Open a door. Call door_close when the sockets of the door are closed. */
struct door *door_open(const struct door_options *options);
void door_close(struct door *door);

/*
 * A socket on which the calling thread calls listen() between door_listen_begin and door_listen_end belongs
 * to this door.
 */
void door_listen_begin(struct door *door);
void door_listen_end(void);

/*
 * Whether the core has called this program's listen() for this door. If not, the core avoids socket_calls.c,
 * and the door has no effect.
 */
bool door_has_listener(const struct door *door);

void door_read_numbers(struct door *door, struct door_numbers *out);

/* From now on a connection that the core ends stays open until its client hangs up: see lingering.h. */
void door_linger(struct door *door);

/* Wait until the core has ended all connections and their clients have hung up. After wait_ms close the others. */
void door_await_clients(struct door *door, int64_t wait_ms);

/*
 * Hang up on the connection that costs most memory and traffic: among the unauthenticated connections or,
 * with `all` and if there are none of these, among all. false: there is no connection to hang up on.
 */
bool door_shed(struct door *door, bool all);

/*
 * Call it once a second: the bytes that a connection has sent before count half from now on, for door_shed.
 */
void door_age(struct door *door);

/* ---- calls ---- */

/*
 * Whether calls must be counted at their connections, which is the case while some connection is
 * unauthenticated.
 */
bool door_counts_calls(const struct door *door);

/*
 * Count a call from this peer, in the form of grpc_call_get_peer. Returns the connection, which stays valid
 * until door_leave. NULL: the connection is unknown, or had too many open calls and was hung up on.
 */
struct door_connection *door_enter(struct door *door, struct str peer);

/*
 * Count a call whose method needs no credential; door_leave ends the count in either case. false: the
 * connection has more open calls of this kind than allowed.
 */
bool door_enter_open(struct door_connection *connection, int max);

/* A reply other than an error was sent on the connection. */
void door_note_answer(struct door_connection *connection);

/* A call has ended. was_open: door_enter_open has counted it. */
void door_leave(struct door_connection *connection, bool was_open);

/* A call on the connection has been admitted. */
void door_authenticate(struct door_connection *connection);

/* ---- sockets: for socket_calls.c ---- */

/* The door that listens on the socket; NULL: none. */
struct door *door_of_listener(int socket);
struct door_connection *door_of_socket(int socket);
void door_note_listener(int socket);

/* Decide about a connection that was accepted. false: close the socket. */
bool door_admit(struct door *door, int socket, const struct sockaddr *address);

/* Whether accept4 has failed with this errno because descriptors or memory for sockets are short. */
bool door_is_short_of_files(int error);

/*
 * accept4 has found no free descriptor: accept one waiting connection with the spare descriptor, and close
 * it. false: no connection waits, or there is no spare descriptor; then the watcher tries again later.
 */
bool door_turn_away(struct door *door, int listener);

bool door_is_tls(const struct door_connection *connection);

/* Inspect bytes that were read from the connection. false: hang up. */
bool door_look(struct door_connection *connection, const void *bytes, size_t length);

/* Whether the door has hung up on the connection. */
bool door_has_hung_up(const struct door_connection *connection);

/* The core shuts the connection down: whether only the direction to the client is to be shut down. */
bool door_lets_linger(const struct door_connection *connection);

/* The core watches the socket of the connection by this epoll instance. */
void door_note_poller(struct door_connection *connection, int poller);

/* Forget a connection whose socket is about to be closed. true: the door keeps the socket and closes it later. */
bool door_forget(struct door_connection *connection);

#endif
