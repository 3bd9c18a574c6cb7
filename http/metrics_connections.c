/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_connections.c - see the header. The table is short and sorted by age, so every search is a loop
 * over it.
 */
#include "http/metrics_connections.h"

#include <string.h>

static bool is_from(const struct metrics_connection *connection, const struct metrics_address *address)
{
    return memcmp(connection->address.bytes, address->bytes, METRICS_ADDRESS_BYTES) == 0;
}

static size_t count_from(const struct metrics_connections *connections, const struct metrics_address *address)
{
    size_t count = 0;

    for (size_t i = 0; i < connections->count; i++)
        count += is_from(&connections->open[i], address);
    return count;
}

static int take_out(struct metrics_connections *connections, size_t at)
{
    int fd = connections->open[at].fd;

    connections->count--;
    memmove(&connections->open[at], &connections->open[at + 1],
        (connections->count - at) * sizeof(connections->open[0]));
    return fd;
}

static int take_oldest_from(struct metrics_connections *connections, const struct metrics_address *address)
{
    for (size_t i = 0; i < connections->count; i++)
        if (is_from(&connections->open[i], address))
            return take_out(connections, i);
    return METRICS_NO_CONNECTION;
}

static struct metrics_address busiest_address(const struct metrics_connections *connections)
{
    size_t max = 0, busiest = 0;

    for (size_t i = 0; i < connections->count; i++) {
        size_t count = count_from(connections, &connections->open[i].address);

        if (count > max) {
            max = count;
            busiest = i;
        }
    }
    return connections->open[busiest].address;
}

int metrics_connections_add(struct metrics_connections *connections, const struct metrics_connection *added)
{
    struct metrics_address address = added->address;
    int closed = METRICS_NO_CONNECTION;

    if (count_from(connections, &address) >= METRICS_CONNECTIONS_PER_ADDRESS) {
        closed = take_oldest_from(connections, &address);
    } else if (connections->count == METRICS_CONNECTIONS) {
        address = busiest_address(connections);
        closed = take_oldest_from(connections, &address);
    }
    connections->open[connections->count++] = *added;
    return closed;
}

void metrics_connections_remove(struct metrics_connections *connections, int fd)
{
    for (size_t i = 0; i < connections->count; i++)
        if (connections->open[i].fd == fd) {
            (void)take_out(connections, i);
            return;
        }
}

int metrics_connections_overdue(struct metrics_connections *connections, int64_t now_us)
{
    return metrics_connections_next_us(connections, now_us) == 0 ? take_out(connections, 0)
                                                                 : METRICS_NO_CONNECTION;
}

int64_t metrics_connections_next_us(const struct metrics_connections *connections, int64_t now_us)
{
    int64_t left;

    if (connections->count == 0)
        return -1;
    left = connections->open[0].begun_us + METRICS_DEADLINE_US - now_us;
    return left > 0 ? left : 0;
}
