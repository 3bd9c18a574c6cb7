/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_collect.h - what `tavola top` shows, asked of a server round by round.
 */
#ifndef CLIENT_TOP_TOP_COLLECT_H
#define CLIENT_TOP_TOP_COLLECT_H

#include "client/lib/tavola.h"
#include "client/top/top_table.h"

enum top_section {
    TOP_METHODS,
    TOP_SLOWEST,
    TOP_QUEUES,
    TOP_INDEXES,
    TOP_HOT,
    TOP_WORKERS,
    TOP_OPERATIONS,
    TOP_DEAD_LETTERS,
    TOP_SECTIONS,
};

/* The server as a whole, of its last sample; below 0: not known. */
struct top_server {
    char version[32];
    double calls_per_s, failed_per_s, median_s, slow_s, waiting, connections, memory_bytes;
    double dead_letters;
    struct top_row load; /* the history of calls_per_s */
};

struct top_view {
    struct top_table tables[TOP_SECTIONS];
    struct top_server server;
    struct top_table totals; /* what methods and workers had done by the round before */
    double read_s;           /* when the last round was */
    bool is_away;            /* the server does not answer: the rest of the round is left out */
    char problem[160];       /* why a part is missing; empty: none is */
};

void top_collect_init(struct top_view *view);

/*
 * Ask for everything once. now_s: a monotonic clock. What fails is told in `problem`, and keeps what it had.
 */
void top_collect_round(struct top_view *view, struct tavola *client, double now_s);

/* Pause a queue, or resume it if it is paused. key: of a row of TOP_QUEUES. false: `problem` says why. */
bool top_collect_switch_queue(struct top_view *view, struct tavola *client, const char *key);

#endif
