/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_rows.h - indexes as rows, for `tavola index list` and `tavola top`.
 */
#ifndef CLIENT_INDEX_ROWS_H
#define CLIENT_INDEX_ROWS_H

#include "client/rows.h"

/* Of IndexView. */
extern const struct rows_column index_rows_columns[];

/* The same without a pace, for work that is paused: the average still holds work from before the pause. */
extern const struct rows_column index_rows_paused_columns[];

/*
 * Print the indexes of a table; NULL: of all. false: a call failed, and standard error has the cause. Closes
 * the rows.
 */
bool index_rows_list(struct tavola *client, struct rows *rows, const char *table);

#endif
