/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_page.c - see the header.
 */
#include "client/top/top_page.h"

#include <stdio.h>

#include "client/calls.h"
#include "client/hot_rows.h"
#include "client/index_rows.h"
#include "client/queue_rows.h"
#include "client/top/dead_letters.h"

enum { MAX_PARTITIONS = 5 };

static const struct rows_column worker_columns[] = {
    { "worker", "name", CELL_TEXT, false, NULL, NULL },
    { "told", "report_age", CELL_DURATION, false, NULL, NULL },
    { "claimed", "claimed_keys", CELL_NUMBER, false, NULL, NULL },
    { "reconciled", "reconciled", CELL_NUMBER, false, NULL, NULL },
    { "steps", "stepped", CELL_NUMBER, false, NULL, NULL },
    { "buried", "buried", CELL_NUMBER, false, NULL, NULL },
    { "leases", "leases", CELL_NUMBER, false, NULL, NULL },
    { "operations", "operations", CELL_TEXT, false, NULL, NULL },
    { NULL, NULL, CELL_TEXT, false, NULL, NULL },
};

static void print_workers(const struct tavola_record *record)
{
    struct tavola_record worker;
    struct rows rows;

    printf("\n");
    rows_open_table(&rows, worker_columns);
    for (size_t position = 0; tavola_record_next(record, "workers", &position, &worker);)
        rows_add(&rows, &worker);
    rows_close(&rows);
}

static bool print_queues(struct tavola *client, bool *indexes_are_paused)
{
    struct tavola_reply *reply = calls_ask(client, "ListQueues", NULL);
    struct tavola_record record;
    struct rows rows;

    if (!reply)
        return false;
    record = tavola_reply_record(reply);
    rows_open_table(&rows, queue_rows_columns);
    queue_rows_print(&rows, &record);
    print_workers(&record);
    *indexes_are_paused = queue_rows_indexes_are_paused(&record);
    tavola_reply_free(reply);
    return true;
}

static bool print_dead_letters(struct tavola *client)
{
    struct dead_letter_counts counts;

    if (!dead_letters_count(client, &counts))
        return false;
    printf("\ndead letters: %lld dead, %lld discarded; %lld being retried\n", (long long)counts.dead,
        (long long)counts.discarded, (long long)counts.retrying);
    return true;
}

static bool print_partitions(struct tavola *client)
{
    struct tavola_reply *reply = hot_rows_ask(client, false, MAX_PARTITIONS);
    struct tavola_record record, partition;
    struct rows rows;

    if (!reply)
        return false;
    record = tavola_reply_record(reply);
    rows_open_table(&rows, hot_rows_columns);
    for (size_t position = 0; tavola_record_next(&record, "partitions", &position, &partition);)
        rows_add(&rows, &partition);
    rows_close(&rows);
    tavola_reply_free(reply);
    return true;
}

bool top_page_print(struct tavola *client)
{
    bool paused;
    struct rows rows;

    if (!print_queues(client, &paused))
        return false;
    printf("\n");
    rows_open_table(&rows, paused ? index_rows_paused_columns : index_rows_columns);
    if (!index_rows_list(client, &rows, NULL) || !print_dead_letters(client))
        return false;
    printf("\n");
    return print_partitions(client);
}
