/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener_probe.c - see the header.
 */
#include "service/probes/listener_probe.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/log.h"
#include "base/str.h"

enum { HOST_BYTES = 256, US_PER_MS = 1000 };

/* the HTTP/2 preface and an empty SETTINGS frame */
static const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";

struct listener_probe {
    const char *address;
    int port, period_ms;
    struct health *health;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping;
};

/* ---- one try ---- */

static bool wait_for(int socket, short events, int timeout_ms)
{
    struct pollfd one = { .fd = socket, .events = events };

    return poll(&one, 1, timeout_ms) == 1;
}

/* Send the hello and read. Returns whether anything was received. The socket does not block. */
static bool exchange_hello(int socket, const struct sockaddr *address, socklen_t size, int timeout_ms)
{
    char answer;

    if (connect(socket, address, size) != 0 &&
        (errno != EINPROGRESS || !wait_for(socket, POLLOUT, timeout_ms)))
        return false;
    if (send(socket, hello, sizeof(hello) - 1, MSG_NOSIGNAL) < 0)
        return errno == ECONNRESET || errno == EPIPE; /* the connection was accepted and then closed */
    return wait_for(socket, POLLIN, timeout_ms) &&
           (recv(socket, &answer, sizeof(answer), 0) >= 0 || errno == ECONNRESET);
}

static bool try_address(const struct sockaddr *address, socklen_t size, int timeout_ms)
{
    int socket_number = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool is_answered;

    if (socket_number < 0)
        return true; /* no descriptor is left, which does not blame the listener */
    is_answered = exchange_hello(socket_number, address, size, timeout_ms);
    close(socket_number);
    return is_answered;
}

static bool try_unix(const char *path, int timeout_ms)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    if (strlen(path) >= sizeof(address.sun_path))
        return true; /* the path is too long: the server could not have started with it */
    memcpy(address.sun_path, path, strlen(path));
    return try_address((const struct sockaddr *)&address, sizeof(address), timeout_ms);
}

/* The host of "host:port", without brackets. If the server listens on all addresses: the loopback address. */
static void host_of(const char *address, char out[HOST_BYTES])
{
    const char *colon = strrchr(address, ':');
    size_t length = colon ? (size_t)(colon - address) : strlen(address);

    if (length >= 2 && address[0] == '[' && address[length - 1] == ']') {
        address++;
        length -= 2;
    }
    snprintf(out, HOST_BYTES, "%.*s", (int)length, address);
    if (strcmp(out, "0.0.0.0") == 0)
        snprintf(out, HOST_BYTES, "127.0.0.1");
    else if (strcmp(out, "::") == 0)
        snprintf(out, HOST_BYTES, "::1");
}

bool listener_probe_once(const char *address, int port, int timeout_ms)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    const char *colon = strrchr(address, ':');
    struct addrinfo *found;
    char host[HOST_BYTES], service[16];
    bool is_answered = false;

    if (str_starts_with(str_of(address), STR_LITERAL("unix:")))
        return try_unix(address + strlen("unix:"), timeout_ms);
    host_of(address, host);
    if (port > 0)
        snprintf(service, sizeof(service), "%d", port);
    else
        snprintf(service, sizeof(service), "%s", colon ? colon + 1 : "");
    if (getaddrinfo(host, service, &hints, &found) != 0)
        return true; /* the name cannot be resolved, which does not blame the listener */
    for (struct addrinfo *at = found; at && !is_answered; at = at->ai_next)
        is_answered = try_address(at->ai_addr, at->ai_addrlen, timeout_ms);
    freeaddrinfo(found);
    return is_answered;
}

/* ---- the thread ---- */

/* Wait for the next period. false: the probe stops. */
static bool pause_for_a_period(struct listener_probe *probe)
{
    int64_t deadline_us = clock_monotonic_us() + (int64_t)probe->period_ms * US_PER_MS;
    bool stopping;

    pthread_mutex_lock(&probe->lock);
    while (!probe->stopping && condition_wait_until(&probe->changed, &probe->lock, deadline_us))
        continue;
    stopping = probe->stopping;
    pthread_mutex_unlock(&probe->lock);
    return !stopping;
}

static void *run_probe(void *argument)
{
    struct listener_probe *probe = argument;
    int failures = 0;

    while (pause_for_a_period(probe)) {
        if (listener_probe_once(probe->address, probe->port, LISTENER_PROBE_TIMEOUT_MS)) {
            if (failures >= LISTENER_PROBE_FAILURES)
                log_event(LOG_INFO, "listener", log_text("listener", "answers"));
            failures = 0;
            health_set_listening(probe->health, true);
        } else if (++failures == LISTENER_PROBE_FAILURES) {
            log_event(LOG_ERROR, "listener", log_text("listener", "silent"),
                log_text("why", "the server does not answer on its own address"));
            health_set_listening(probe->health, false);
        }
    }
    return NULL;
}

struct listener_probe *listener_probe_start(
    const char *address, int port, int period_ms, struct health *health)
{
    struct listener_probe *probe = xcalloc(1, sizeof(*probe));

    probe->address = address;
    probe->port = port;
    probe->period_ms = period_ms;
    probe->health = health;
    pthread_mutex_init(&probe->lock, NULL);
    condition_init(&probe->changed);
    if (pthread_create(&probe->thread, NULL, run_probe, probe) != 0)
        abort(); /* no memory for a thread's stack */
    return probe;
}

void listener_probe_stop(struct listener_probe *probe)
{
    if (!probe)
        return;
    pthread_mutex_lock(&probe->lock);
    probe->stopping = true;
    pthread_cond_signal(&probe->changed);
    pthread_mutex_unlock(&probe->lock);
    pthread_join(probe->thread, NULL);
    pthread_cond_destroy(&probe->changed);
    pthread_mutex_destroy(&probe->lock);
    free(probe);
}
