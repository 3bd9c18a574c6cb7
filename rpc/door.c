/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.c - see the header.
 *
 * One lock guards all connections of all doors. It is taken when a connection opens, closes or is hung up on,
 * and for a call only while some connection is unauthenticated. The bytes of a connection are read without
 * the lock, because one thread at a time reads from a connection. The table finds a connection by its socket
 * until the socket is closed; the memory of a connection is freed when no call points to it any more.
 */
#include "rpc/door.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/log.h"
#include "base/macros.h"
#include "rpc/door_table.h"
#include "rpc/lingering.h"
#include "rpc/server.h"

enum {
    MAX_SOCKETS = 1 << 20,
    MAX_LISTENERS = 16,
    /*
     * An address that was hung up on is refused for this long. The time doubles with each further hang-up
     * within FORGIVEN_US.
     */
    RETURN_US = 1000000,
    MAX_RETURN_DOUBLINGS = 4,
    FORGIVEN_US = 60000000,
    WATCH_US = 250000,
    US_PER_MS = 1000,
};

struct door {
    struct door_options options;
    struct door_table table;
    /* a descriptor that is given up to accept and close a connection when no other is left; -1: none */
    int spare;
    pthread_t watcher;
    /* signalled when a connection has opened or, while the door lingers, closed; or when `closing` is set */
    pthread_cond_t changed;
    bool closing;   /* tells the watcher to end */
    bool is_closed; /* the door is closed, and is freed when its last connection is */
    /* connections wait on this listener, because there was no descriptor for them; -1: none */
    int stuck_listener;
    atomic_bool lingers;
    struct lingering lingering;
    atomic_int unauthenticated;
    atomic_uint_least64_t reasons[DOOR_REASONS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct door_connection *) sockets[MAX_SOCKETS];
static struct listener {
    int socket;
    _Atomic(struct door *) door;
} listeners[MAX_LISTENERS];
static _Thread_local struct door *listening;

/* ---- hanging up; the lock is held ---- */

static void count_reason(struct door *door, enum door_reason reason)
{
    atomic_fetch_add_explicit(&door->reasons[reason], 1, memory_order_relaxed);
}

/*
 * Refuse new connections from the address of a connection that was hung up on, unless a caller with a
 * credential is also connected from it.
 */
static void bar_address(struct door *door, struct door_connection *connection, enum door_reason reason)
{
    struct door_barred *barred = door_table_barred(&door->table, &connection->address);
    int64_t now_us = clock_monotonic_us();

    if (connection->is_authenticated || !connection->address.is_known || reason == DOOR_SILENT ||
        reason == DOOR_ROOM || door_table_has_authenticated(&door->table, &connection->address))
        return;
    if (barred->until_us + FORGIVEN_US < now_us ||
        !door_address_equal(&barred->address, &connection->address))
        *barred = (struct door_barred){ .address = connection->address };
    barred->until_us = now_us + ((int64_t)RETURN_US << barred->doublings);
    if (barred->doublings < MAX_RETURN_DOUBLINGS)
        barred->doublings++;
}

/*
 * Shut the socket down. The core sees an error at its next read, and closes the socket. Bytes that wait to be
 * sent are dropped.
 */
static void hang_up(struct door_connection *connection, enum door_reason reason)
{
    const struct linger at_once = { .l_onoff = 1 };
    char peer[DOOR_ADDRESS_TEXT_BYTES];

    if (connection->socket < 0 || atomic_exchange(&connection->hung_up, true))
        return;
    count_reason(connection->door, reason);
    bar_address(connection->door, connection, reason);
    (void)setsockopt(connection->socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    (void)shutdown(connection->socket, SHUT_RDWR);
    door_address_format(&connection->address, peer);
    log_event(LOG_DEBUG, "hung_up", log_text("peer", peer), log_text("reason", door_rules_names[reason]));
}

static void release(struct door_connection *connection)
{
    if (--connection->references == 0)
        free(connection);
}

/* ---- the watcher: a thread of each door ---- */

static void hang_up_on_silent(struct door *door, int64_t now_us)
{
    struct door_connection *next;

    if (door->options.first_call_us == 0)
        return;
    for (struct door_connection *at = door->table.oldest; at; at = next) {
        next = at->newer;
        if (now_us - at->accepted_us < door->options.first_call_us)
            return;
        if (!at->was_answered)
            hang_up(at, DOOR_SILENT);
    }
}

static void *run_watcher(void *argument)
{
    struct door *door = argument;

    pthread_mutex_lock(&lock);
    while (!door->closing) {
        if (!door->table.oldest && door->stuck_listener < 0) {
            pthread_cond_wait(&door->changed, &lock);
            continue;
        }
        (void)condition_wait_until(&door->changed, &lock, clock_monotonic_us() + WATCH_US);
        hang_up_on_silent(door, clock_monotonic_us());
        if (door->stuck_listener >= 0) {
            int listener = door->stuck_listener;

            pthread_mutex_unlock(&lock);
            while (door_turn_away(door, listener))
                continue;
            pthread_mutex_lock(&lock);
        }
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- doors ---- */

static int open_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

struct door *door_open(const struct door_options *options)
{
    struct door *door = xcalloc(1, sizeof(*door));

    door->options = *options;
    door->spare = open_spare();
    door->stuck_listener = -1;
    condition_init(&door->changed);
    if (pthread_create(&door->watcher, NULL, run_watcher, door) != 0)
        abort(); /* no memory for a thread's stack */
    return door;
}

/*
 * Free the door once its last connection is gone: the core may close the last sockets a little later than its
 * server.
 */
static void free_if_unused(struct door *door)
{
    if (!door->is_closed || door->table.count > 0)
        return;
    if (door->spare >= 0)
        close(door->spare);
    pthread_cond_destroy(&door->changed);
    free(door);
}

static void forget_listeners(struct door *door)
{
    for (int i = 0; i < MAX_LISTENERS; i++)
        if (atomic_load(&listeners[i].door) == door)
            atomic_store(&listeners[i].door, NULL);
}

void door_close(struct door *door)
{
    if (!door)
        return;
    pthread_mutex_lock(&lock);
    door->closing = true;
    pthread_cond_broadcast(&door->changed);
    forget_listeners(door);
    pthread_mutex_unlock(&lock);
    pthread_join(door->watcher, NULL);
    pthread_mutex_lock(&lock);
    door->is_closed = true;
    free_if_unused(door);
    pthread_mutex_unlock(&lock);
}

void door_listen_begin(struct door *door)
{
    listening = door;
}

void door_listen_end(void)
{
    listening = NULL;
}

void door_note_listener(int socket)
{
    if (!listening)
        return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_LISTENERS; i++)
        if (!atomic_load(&listeners[i].door)) {
            listeners[i].socket = socket;
            atomic_store(&listeners[i].door, listening);
            break;
        }
    pthread_mutex_unlock(&lock);
}

struct door *door_of_listener(int socket)
{
    for (int i = 0; i < MAX_LISTENERS; i++) {
        struct door *door = atomic_load_explicit(&listeners[i].door, memory_order_acquire);

        if (door && listeners[i].socket == socket)
            return door;
    }
    return NULL;
}

bool door_has_listener(const struct door *door)
{
    for (int i = 0; i < MAX_LISTENERS; i++)
        if (atomic_load(&listeners[i].door) == door)
            return true;
    return false;
}

void door_read_numbers(struct door *door, struct door_numbers *out)
{
    pthread_mutex_lock(&lock);
    out->connections = door->table.count;
    out->authenticated = door->table.count - atomic_load(&door->unauthenticated);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < DOOR_REASONS; i++)
        out->reasons[i] = atomic_load(&door->reasons[i]);
}

void door_linger(struct door *door)
{
    atomic_store(&door->lingers, true);
}

void door_await_clients(struct door *door, int64_t wait_ms)
{
    int64_t deadline_us = clock_monotonic_us() + wait_ms * US_PER_MS;
    struct lingering ended;

    pthread_mutex_lock(&lock);
    while (door->table.count > 0 && condition_wait_until(&door->changed, &lock, deadline_us))
        continue;
    atomic_store(&door->lingers, false);
    ended = door->lingering;
    door->lingering = (struct lingering){ 0 };
    pthread_mutex_unlock(&lock);
    lingering_end(&ended, deadline_us);
}

bool door_shed(struct door *door, bool all)
{
    struct door_connection *worst;

    pthread_mutex_lock(&lock);
    worst = door_table_worst(&door->table, all);
    if (worst)
        hang_up(worst, DOOR_MEMORY);
    pthread_mutex_unlock(&lock);
    return worst != NULL;
}

void door_age(struct door *door)
{
    pthread_mutex_lock(&lock);
    door_table_age(&door->table);
    pthread_mutex_unlock(&lock);
}

/* ---- connections come ---- */

/* Make room for a connection from this address, or return the reason to refuse it. The lock is held. */
static enum door_reason find_room(struct door *door, const struct door_address *address)
{
    const struct door_options *options = &door->options;
    const struct door_barred *barred = door_table_barred(&door->table, address);

    if (address->is_known && door_address_equal(&barred->address, address) &&
        barred->until_us > clock_monotonic_us() && !door_table_has_authenticated(&door->table, address))
        return DOOR_RETURNED;
    if (options->max_per_address > 0 && address->is_known &&
        door_table_count_address(&door->table, address) >= options->max_per_address)
        return DOOR_ADDRESS;
    if (options->max_connections > 0 && door->table.count >= options->max_connections) {
        if (!door->table.oldest)
            return DOOR_FULL;
        hang_up(door->table.oldest, DOOR_ROOM);
        /*
         * Take the connection off the list now, since the core closes it only a little later; otherwise the
         * next arrival would choose it again.
         */
        door_table_set_aside(&door->table, door->table.oldest);
    }
    return DOOR_NONE;
}

static void add_connection(struct door *door, int socket, const struct door_address *address)
{
    struct door_connection *connection = xcalloc(1, sizeof(*connection));

    connection->door = door;
    connection->socket = socket;
    connection->poller = -1;
    connection->address = *address;
    connection->references = 1;
    connection->accepted_us = clock_monotonic_us();
    connection->is_authenticated = !address->is_known;
    frame_scan_init(&connection->scan);
    if (!door->table.oldest) /* the watcher sleeps */
        pthread_cond_broadcast(&door->changed);
    door_table_add(&door->table, connection);
    if (!connection->is_authenticated)
        atomic_fetch_add(&door->unauthenticated, 1);
    atomic_store_explicit(&sockets[socket], connection, memory_order_release);
}

bool door_admit(struct door *door, int socket, const struct sockaddr *address)
{
    struct door_address from;
    enum door_reason reason;

    door_address_read(address, &from);
    pthread_mutex_lock(&lock);
    reason = socket < MAX_SOCKETS ? find_room(door, &from) : DOOR_FILES;
    if (reason == DOOR_NONE)
        add_connection(door, socket, &from);
    else
        count_reason(door, reason);
    pthread_mutex_unlock(&lock);
    return reason == DOOR_NONE;
}

bool door_is_short_of_files(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

bool door_turn_away(struct door *door, int listener)
{
    int socket;

    pthread_mutex_lock(&lock);
    if (door->spare >= 0)
        close(door->spare);
    socket = (int)syscall(SYS_accept4, listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) {
        close(socket);
        count_reason(door, DOOR_FILES);
    }
    door->stuck_listener = socket < 0 && door_is_short_of_files(errno) ? listener : -1;
    if (door->stuck_listener >= 0)
        pthread_cond_broadcast(&door->changed);
    door->spare = open_spare();
    pthread_mutex_unlock(&lock);
    return socket >= 0;
}

/* ---- connections go ---- */

struct door_connection *door_of_socket(int socket)
{
    return socket >= 0 && socket < MAX_SOCKETS ? atomic_load_explicit(&sockets[socket], memory_order_acquire)
                                               : NULL;
}

static void no_longer_unauthenticated(struct door_connection *connection)
{
    connection->is_authenticated = true;
    atomic_fetch_sub(&connection->door->unauthenticated, 1);
}

bool door_lets_linger(const struct door_connection *connection)
{
    return atomic_load(&connection->door->lingers) && !door_has_hung_up(connection);
}

void door_note_poller(struct door_connection *connection, int poller)
{
    connection->poller = poller;
}

/*
 * Keep the socket that the core closes, if its client has not hung up. The core expects that closing ends the watch on
 * the socket. The lock is held.
 */
static bool keep_socket(struct door_connection *connection)
{
    if (!door_lets_linger(connection) || connection->poller < 0 ||
        !lingering_has_client(connection->socket) ||
        epoll_ctl(connection->poller, EPOLL_CTL_DEL, connection->socket, NULL) != 0)
        return false;
    lingering_add(&connection->door->lingering, connection->socket);
    return true;
}

bool door_forget(struct door_connection *connection)
{
    bool keeps;

    pthread_mutex_lock(&lock);
    keeps = keep_socket(connection);
    atomic_store(&sockets[connection->socket], NULL);
    door_table_remove(&connection->door->table, connection);
    if (atomic_load(&connection->door->lingers))
        pthread_cond_broadcast(&connection->door->changed);
    if (!connection->is_authenticated)
        no_longer_unauthenticated(connection);
    connection->socket = -1;
    free_if_unused(connection->door);
    release(connection);
    pthread_mutex_unlock(&lock);
    return keeps;
}

/* ---- bytes of a connection ---- */

bool door_is_tls(const struct door_connection *connection)
{
    return connection->door->options.is_tls;
}

bool door_has_hung_up(const struct door_connection *connection)
{
    return atomic_load_explicit(&connection->hung_up, memory_order_relaxed);
}

static bool hang_up_on_reader(struct door_connection *connection, enum door_reason reason)
{
    pthread_mutex_lock(&lock);
    hang_up(connection, reason);
    pthread_mutex_unlock(&lock);
    return false;
}

bool door_look(struct door_connection *connection, const void *bytes, size_t length)
{
    struct frame_counts *counts = &connection->scan.counts;
    bool is_authenticated = atomic_load_explicit(&connection->is_authenticated, memory_order_relaxed);
    enum door_reason reason;

    if (!frame_scan_read(&connection->scan, bytes, length))
        return hang_up_on_reader(connection, DOOR_HEADER);
    atomic_fetch_add_explicit(&connection->received, length, memory_order_relaxed);
    if (!door_rules_apply(counts, is_authenticated)) {
        *counts = (struct frame_counts){ 0 };
        return true;
    }
    reason = door_rules_charge(&connection->used, counts, is_authenticated, clock_monotonic_us());
    return reason == DOOR_NONE || hang_up_on_reader(connection, reason);
}

/* ---- calls ---- */

bool door_counts_calls(const struct door *door)
{
    return atomic_load_explicit(&door->unauthenticated, memory_order_relaxed) > 0;
}

struct door_connection *door_enter(struct door *door, struct str peer)
{
    struct door_connection *connection = NULL;
    struct door_address from;

    if (!door_address_of_peer(peer, &from))
        return NULL;
    pthread_mutex_lock(&lock);
    connection = door_table_find(&door->table, &from);
    if (connection && !connection->is_authenticated && connection->calls >= RPC_STREAMS) {
        hang_up(connection, DOOR_CALLS);
        connection = NULL;
    }
    if (connection) {
        connection->calls++;
        connection->references++;
    }
    pthread_mutex_unlock(&lock);
    return connection;
}

bool door_enter_open(struct door_connection *connection, int max)
{
    int count;

    pthread_mutex_lock(&lock);
    count = ++connection->open_calls;
    pthread_mutex_unlock(&lock);
    return max == 0 || count <= max;
}

void door_note_answer(struct door_connection *connection)
{
    atomic_store_explicit(&connection->was_answered, true, memory_order_relaxed);
}

void door_leave(struct door_connection *connection, bool was_open)
{
    pthread_mutex_lock(&lock);
    connection->calls--;
    if (was_open)
        connection->open_calls--;
    release(connection);
    pthread_mutex_unlock(&lock);
}

void door_authenticate(struct door_connection *connection)
{
    if (connection->is_authenticated)
        return;
    pthread_mutex_lock(&lock);
    if (!connection->is_authenticated && connection->socket >= 0) {
        door_table_set_aside(&connection->door->table, connection);
        no_longer_unauthenticated(connection);
    }
    pthread_mutex_unlock(&lock);
}
