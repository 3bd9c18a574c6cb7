/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepared.h - which statements a connection has prepared, when several flights are under way.
 *
 * A statement is parsed when it is first sent, in the same flight, so that a new connection is ready after three round
 * trips and not after parsing all statements. PostgreSQL skips a Parse behind a failed statement of its segment. Until
 * its result has come, a Parse is therefore relied upon by its own segment alone, which is skipped with it:
 *
 *     absent --sent--> sent --result--> prepared
 *        ^               |
 *        +---skipped or failed
 *
 * A later segment that needs a statement whose Parse is under way parses it once more without a name.
 *
 * Commands and syncs of a connection are numbered in the order in which they are sent, which is the order of their
 * results.
 */
#ifndef STORE_CONNECTION_PREPARED_H
#define STORE_CONNECTION_PREPARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/embedded.h"

struct prepared;

/* Of a new connection: nothing is prepared. */
struct prepared *prepared_new(void);
void prepared_free(struct prepared *prepared); /* NULL is allowed */

enum prepared_way {
    PREPARED_BY_NAME,       /* execute it by its name */
    PREPARED_PARSE_FIRST,   /* parse it under its name, then execute it */
    PREPARED_PARSE_UNNAMED, /* parse it without a name, then execute the unnamed statement */
};

/* How to send this statement now. */
enum prepared_way prepared_way(const struct prepared *prepared, const struct embedded *sql);

/* To be called for everything that is sent, in order. */
void prepared_parse_sent(struct prepared *prepared, const struct embedded *sql, enum prepared_way way);
void prepared_command_sent(struct prepared *prepared);
void prepared_sync_sent(struct prepared *prepared);

/* Whether the next result is that of a Parse. */
bool prepared_parse_is_next(const struct prepared *prepared);

/* The result of that Parse. */
void prepared_parse_ended(struct prepared *prepared, bool succeeded);

/* All results of the next command, or the result of the next sync, have been taken. */
void prepared_result_taken(struct prepared *prepared);

#endif
