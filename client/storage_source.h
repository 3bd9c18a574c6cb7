/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_source.h - the entities of a table of a storage account, page by page, for `tavola import --from`.
 */
#ifndef CLIENT_STORAGE_SOURCE_H
#define CLIENT_STORAGE_SOURCE_H

#include <stdbool.h>

struct storage_source;

/*
 * Prepare to read a table; nothing is requested yet.
 *
 * connection  a connection string, or "@FILE" for the file that has it
 * position    of storage_source_position in an earlier run; empty: from the start
 *
 * NULL: the cause is on standard error
 */
struct storage_source *storage_source_open(const char *connection, const char *table, const char *position);
void storage_source_close(struct storage_source *source);

/* The next entity as JSON, on the heap. NULL: there is no further one, or reading failed. */
char *storage_source_next(struct storage_source *source);

/* Whether reading has failed; the cause is on standard error. */
bool storage_source_has_failed(const struct storage_source *source);

/* Behind the last entity of a page: where the next page begins. NULL: the page has more; empty: it was the last. */
const char *storage_source_position(const struct storage_source *source);

#endif
