/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepared.h - which statements a connection has prepared, while several flights are under way.
 *
 * A statement is parsed when it is first sent, in the same flight, so that a new connection can be
 * used after three round trips instead of after parsing all statements. If a statement fails,
 * PostgreSQL skips the Parses behind it in its segment. So until the result of a Parse has arrived,
 * only its own segment relies on it, which is skipped with it:
 *
 *     absent --sent--> sent --result--> prepared
 *        ^               |
 *        +---skipped or failed
 *
 * If a later segment needs a statement whose Parse is under way, it parses the statement again
 * without a name.
 *
 * Commands and syncs of a connection are numbered in the order in which they are sent, which is
 * also the order of their results.
 */
#ifndef STORE_CONNECTION_PREPARED_H
#define STORE_CONNECTION_PREPARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/embedded.h"

struct prepared;

/* For a new connection, which has prepared nothing. */
struct prepared *prepared_new(void);
void prepared_free(struct prepared *prepared); /* NULL is allowed */

enum prepared_way {
    PREPARED_BY_NAME,       /* execute it by its name */
    PREPARED_PARSE_FIRST,   /* parse it under its name, then execute it */
    PREPARED_PARSE_UNNAMED, /* parse it without a name, then execute the unnamed statement */
};

/* How this statement is to be sent now. */
enum prepared_way prepared_way(const struct prepared *prepared, const struct embedded *sql);

/* Report what is sent, in order: call one of these for every Parse, command and sync. */
void prepared_parse_sent(struct prepared *prepared, const struct embedded *sql, enum prepared_way way);
void prepared_command_sent(struct prepared *prepared);
void prepared_sync_sent(struct prepared *prepared);

/* Whether the next result is that of a Parse. */
bool prepared_parse_is_next(const struct prepared *prepared);

/* Report the result of the next Parse. */
void prepared_parse_ended(struct prepared *prepared, bool succeeded);

/* Report that all results of the next command, or the result of the next sync, were taken. */
void prepared_result_taken(struct prepared *prepared);

#endif
