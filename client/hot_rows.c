/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_rows.c - see the header.
 */
#include "client/hot_rows.h"

static void write_partition(const struct tavola_record *partition, bool human, struct buf *out)
{
    char *key = tavola_record_text(partition, "partitionKey");

    buf_append(out, str_of(key));
    if (human && tavola_record_integer(partition, "cut"))
        buf_append(out, STR_LITERAL("..."));
    else if (human && tavola_record_integer(partition, "ofOrder"))
        buf_append(out, STR_LITERAL(" (and the partitions before it)"));
    tavola_free(key);
}

const struct rows_column hot_rows_columns[] = {
    { "account", "account", CELL_DASH, false, NULL, NULL },
    { "table or index", "table", CELL_TEXT, false, NULL, NULL },
    { "looks like", "pattern", CELL_DASH, false, NULL, NULL },
    { "reads/s", "reads_per_second", CELL_RATE, false, NULL, NULL },
    { "writes/s", "writes_per_second", CELL_RATE, false, NULL, NULL },
    { "share", "share", CELL_SHARE, false, NULL, NULL },
    { "partition", NULL, CELL_TEXT, false, "partition_key", write_partition },
    { NULL, NULL, CELL_TEXT, false, NULL, NULL },
};

struct tavola_reply *hot_rows_ask(struct tavola *client, bool is_hour, int limit)
{
    struct request request;

    request_begin(&request);
    request_text(&request, "span", is_hour ? "HOT_SPAN_HOUR" : "HOT_SPAN_MINUTE");
    request_number(&request, "limit", limit);
    return calls_ask(client, "ListHotPartitions", &request);
}
