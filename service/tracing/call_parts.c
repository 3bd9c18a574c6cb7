/* SPDX-License-Identifier: Apache-2.0 */
/* call_parts.c - see the header. */
#include "service/tracing/call_parts.h"

#include "base/clock.h"
#include "domain/operations/operation_times.h"

static const struct query_stats *stats_of(const struct operation *operation)
{
    switch (operation->kind) {
    case OPERATION_PAGE:
    case OPERATION_COUNT:
    case OPERATION_EXPLAIN:
        return &operation->out.page.stats;
    case OPERATION_LOOKUP:
        return &operation->out.lookup.stats;
    default:
        return NULL;
    }
}

static void read_operation(const struct operation *operation, int64_t now_us, struct call_parts *out)
{
    int64_t arrived_us = operation_times_arrived_us(operation);
    int64_t begun_us = operation_times_begun_us(operation);
    const struct query_stats *stats = operation->status == STATUS_OK ? stats_of(operation) : NULL;

    out->table = operation->table;
    out->ran = arrived_us > 0 && begun_us >= arrived_us;
    if (out->ran) {
        out->queue_us = begun_us - arrived_us;
        out->database_us = now_us - begun_us;
    }
    if (stats && stats->access_path) {
        out->path = stats->access_path;
        out->access_path = access_path_name(stats->access_path);
        out->rows_examined = stats->rows_examined;
    }
}

void call_parts_read(const struct call_end *end, struct call_parts *out)
{
    int64_t now_us = clock_monotonic_us();

    int64_t begun_us = end->begun_us > 0 ? end->begun_us : rpc_call_begun_us(end->call);

    *out = (struct call_parts){ .duration_us = now_us - begun_us };
    if (end->operation)
        read_operation(end->operation, now_us, out);
}
