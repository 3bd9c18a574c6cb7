/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_guard.c - see the header.
 *
 * The allocator keeps memory that was freed. Therefore the guard gives it back to the system when the process
 * has grown by TRIM_BYTES since the last time, or is above three quarters of the bound. Otherwise one peak
 * would keep the process near its bound.
 */
#include "service/admission/memory_guard.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/log.h"
#include "base/numbers.h"
#include "http/server.h"
#include "service/admission/allocator.h"

enum {
    LOOK_US = 25 * 1000,
    LOOKS_PER_SECOND = 40,
    TRIM_BYTES = 24 * 1024 * 1024,
    SHED_AT_ONCE = 8,
    QUIET_SECONDS = 10, /* the shortest time between two lines in the log */
};

struct memory_guard {
    struct memory_bound bound;
    struct rpc_server *server;
    struct http_server *http; /* NULL: the server has no listener for HTTP */
    int statm;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping;
    int64_t trimmed_bytes; /* resident bytes after memory was last given back */
    unsigned looks;
    unsigned told_look; /* the value of `looks` when the log last got a line */
};

static int64_t resident_bytes(const struct memory_guard *guard)
{
    char text[128];
    ssize_t length = pread(guard->statm, text, sizeof(text) - 1, 0);
    long long size, resident;

    if (length <= 0)
        return 0;
    text[length] = '\0';
    return sscanf(text, "%lld %lld", &size, &resident) == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

static void log_shortage(struct memory_guard *guard, int64_t resident)
{
    if (guard->told_look != 0 && guard->looks - guard->told_look < QUIET_SECONDS * LOOKS_PER_SECOND)
        return;
    guard->told_look = guard->looks;
    log_event(LOG_WARN, "memory_short", log_number("resident_bytes", resident),
        log_number("limit_bytes", guard->bound.bytes),
        log_text("what", "connections are hung up on, those without an admitted call first"));
}

static void shed_connections(struct memory_guard *guard, int64_t resident)
{
    int64_t bound = guard->bound.bytes;
    bool all = resident >= bound / 8 * 7;

    if (resident < bound / 4 * 3)
        return;
    log_shortage(guard, resident);
    for (int i = 0; i < SHED_AT_ONCE && rpc_server_shed(guard->server, false); i++)
        continue;
    http_server_shed(guard->http, SHED_AT_ONCE, all);
    if (all)
        (void)rpc_server_shed(guard->server, true);
}

/*
 * Give freed memory back to the system. Called once a second at most, since it takes milliseconds for some
 * hundred megabytes.
 */
static void give_back(struct memory_guard *guard, int64_t resident)
{
    if (resident < guard->trimmed_bytes)
        guard->trimmed_bytes = resident;
    if (resident < guard->trimmed_bytes + TRIM_BYTES && resident < guard->bound.bytes / 4 * 3)
        return;
    allocator_give_back();
    guard->trimmed_bytes = resident_bytes(guard);
}

static void check_memory(struct memory_guard *guard)
{
    int64_t resident = resident_bytes(guard);

    shed_connections(guard, resident);
    if (++guard->looks % LOOKS_PER_SECOND != 0)
        return;
    rpc_server_age(guard->server);
    give_back(guard, resident);
}

int64_t memory_guard_next_look(int64_t due_us, int64_t now_us)
{
    return numbers_max(due_us + LOOK_US, now_us);
}

static void *run_guard(void *argument)
{
    struct memory_guard *guard = argument;
    int64_t due_us = clock_monotonic_us() + LOOK_US;

    pthread_mutex_lock(&guard->lock);
    while (!guard->stopping) {
        if (condition_wait_until(&guard->changed, &guard->lock, due_us))
            continue;
        check_memory(guard);
        due_us = memory_guard_next_look(due_us, clock_monotonic_us());
    }
    pthread_mutex_unlock(&guard->lock);
    return NULL;
}

struct memory_guard *memory_guard_start(
    const struct memory_bound *bound, struct rpc_server *server, struct http_server *http)
{
    struct memory_guard *guard = xcalloc(1, sizeof(*guard));

    guard->bound = *bound;
    guard->server = server;
    guard->http = http;
    guard->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    guard->trimmed_bytes = resident_bytes(guard);
    pthread_mutex_init(&guard->lock, NULL);
    condition_init(&guard->changed);
    if (pthread_create(&guard->thread, NULL, run_guard, guard) != 0)
        abort(); /* no memory for a thread's stack */
    return guard;
}

void memory_guard_stop(struct memory_guard *guard)
{
    if (!guard)
        return;
    pthread_mutex_lock(&guard->lock);
    guard->stopping = true;
    pthread_cond_signal(&guard->changed);
    pthread_mutex_unlock(&guard->lock);
    pthread_join(guard->thread, NULL);
    close(guard->statm);
    pthread_cond_destroy(&guard->changed);
    pthread_mutex_destroy(&guard->lock);
    free(guard);
}
