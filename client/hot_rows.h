/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_rows.h - the partitions with most accesses as rows, for `tavola top` and `tavola hot`.
 */
#ifndef CLIENT_HOT_ROWS_H
#define CLIENT_HOT_ROWS_H

#include "client/calls.h"
#include "client/rows.h"

/* Of HotPartition. */
extern const struct rows_column hot_rows_columns[];

/*
 * Ask for the first `limit` partitions of the last minute, or with is_hour of the last hour; 0: the default.
 * NULL: the call failed.
 */
struct tavola_reply *hot_rows_ask(struct tavola *client, bool is_hour, int limit);

#endif
