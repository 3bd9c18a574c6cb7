/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_rows.h - queues as rows, one for each kind of work, for `tavola queue` and `tavola top`.
 */
#ifndef CLIENT_QUEUE_ROWS_H
#define CLIENT_QUEUE_ROWS_H

#include "client/rows.h"

/* Of QueueWork in Queue. */
extern const struct rows_column queue_rows_columns[];

/* Print the queues of a reply that has them. Closes the rows. */
void queue_rows_print(struct rows *rows, const struct tavola_record *reply);

/* Whether every queue of a reply has paused its work on indexes. */
bool queue_rows_indexes_are_paused(const struct tavola_record *reply);

#endif
