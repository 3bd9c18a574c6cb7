/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backlog.c - see the header.
 */
#include "service/probes/backlog.h"

#include <stdlib.h>

#include "base/clock.h"
#include "service/probes/server_history.h"

/* The outcome arrives before the next sample is taken, so it belongs to the newest one. */
enum { READ_WITHIN_US = SERVER_HISTORY_INTERVAL_US / 2 };

struct backlog_reading {
    struct operation operation;
    struct arena arena;
    struct server_history *history;
};

static void reading_done(struct operation *operation)
{
    struct backlog_reading *reading = CONTAINER_OF(operation, struct backlog_reading, operation);

    if (operation->status == STATUS_OK)
        server_history_set_backlog(reading->history, &operation->out.backlog);
    arena_cleanup(&reading->arena);
    free(reading);
}

void backlog_read(struct service *service)
{
    struct backlog_reading *reading = xcalloc(1, sizeof(*reading));

    arena_init(&reading->arena);
    reading->history = service->history;
    reading->operation = (struct operation){ .kind = OPERATION_BACKLOG,
        .arena = &reading->arena,
        .deadline_us = clock_monotonic_us() + READ_WITHIN_US,
        .done = reading_done };
    store_submit(service->store, &reading->operation);
}
