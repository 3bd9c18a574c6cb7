/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepared.c - the state of each statement, and the Parses under way in the order in which they
 * were sent.
 */
#include "store/connection/prepared.h"

#include <stdlib.h>

#include "base/arena.h"
#include "store/sql.h"

enum { UNNAMED = -1 };

enum state { ABSENT, SENT, READY };

struct statement {
    enum state state;
    int64_t segment; /* in which the statement's Parse was sent */
};

struct parse {
    int64_t command;
    int statement; /* UNNAMED: the Parse changes no statement's state */
};

struct prepared {
    struct statement statements[sql_count];
    int64_t segment;  /* number of syncs sent */
    int64_t sent;     /* number of commands and syncs sent */
    int64_t answered; /* number of those that are answered */
    struct parse *parses;
    size_t first, count, capacity;
};

struct prepared *prepared_new(void)
{
    return xcalloc(1, sizeof(struct prepared));
}

void prepared_free(struct prepared *prepared)
{
    if (!prepared)
        return;
    free(prepared->parses);
    free(prepared);
}

enum prepared_way prepared_way(const struct prepared *prepared, const struct embedded *sql)
{
    const struct statement *statement = &prepared->statements[sql->number];

    if (statement->state == ABSENT)
        return PREPARED_PARSE_FIRST;
    if (statement->state == READY || statement->segment == prepared->segment)
        return PREPARED_BY_NAME;
    return PREPARED_PARSE_UNNAMED;
}

/* Add a Parse to those under way; Parses that have ended make room for it. */
static void append(struct prepared *prepared, struct parse parse)
{
    if (prepared->first == prepared->count)
        prepared->first = prepared->count = 0;
    if (prepared->count == prepared->capacity) {
        prepared->capacity = prepared->capacity ? prepared->capacity * 2 : 32;
        prepared->parses = xrealloc(prepared->parses, prepared->capacity * sizeof(*prepared->parses));
    }
    prepared->parses[prepared->count++] = parse;
}

void prepared_parse_sent(struct prepared *prepared, const struct embedded *sql, enum prepared_way way)
{
    bool is_named = way == PREPARED_PARSE_FIRST;

    if (is_named)
        prepared->statements[sql->number] = (struct statement){ SENT, prepared->segment };
    append(prepared, (struct parse){ prepared->sent, is_named ? sql->number : UNNAMED });
    prepared->sent++;
}

void prepared_command_sent(struct prepared *prepared)
{
    prepared->sent++;
}

void prepared_sync_sent(struct prepared *prepared)
{
    prepared->sent++;
    prepared->segment++;
}

bool prepared_parse_is_next(const struct prepared *prepared)
{
    return prepared->first < prepared->count &&
           prepared->parses[prepared->first].command == prepared->answered;
}

void prepared_parse_ended(struct prepared *prepared, bool succeeded)
{
    int statement = prepared->parses[prepared->first++].statement;

    if (statement != UNNAMED)
        prepared->statements[statement].state = succeeded ? READY : ABSENT;
    prepared->answered++;
}

void prepared_result_taken(struct prepared *prepared)
{
    prepared->answered++;
}
