/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nothing_found.c - see the header.
 */
#include "client/nothing_found.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"

enum { MAX_EQUALS = 16 /* parts of an index's key, and more */ };

/* ---- queries ---- */

/* Whether a suggestion of ExplainQuery (domain/indexes/query_advice.c) says why nothing is found. */
static bool is_cause(struct str sentence)
{
    static const char *const marks[] = { "of another type than the literal",
        "the filter contradicts itself" };

    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (memmem(sentence.data, sentence.len, marks[i], strlen(marks[i])))
            return true;
    return false;
}

void nothing_found_by_query(struct tavola *client, struct request *explain_request)
{
    struct tavola_question question = { .method = "ExplainQuery", .request = request_json(explain_request) };
    struct tavola_reply *reply = NULL;
    struct tavola_record record;
    struct tavola_error ignored;
    struct str rest, sentence;
    char *suggestions;

    if (tavola_ask(client, &question, &reply, &ignored) == TAVOLA_OK) {
        record = tavola_reply_record(reply);
        suggestions = tavola_record_text(&record, "suggestions");
        for (rest = str_of(suggestions); rest.len > 0;) {
            sentence = str_take(&rest, '\n');
            if (is_cause(sentence))
                fprintf(stderr, "tavola: %.*s\n", STR_ARG(sentence));
        }
        tavola_free(suggestions);
        tavola_reply_free(reply);
    }
    request_end(explain_request);
}

/* ---- look-ups ---- */

static bool finds_something(struct tavola *client, const struct tavola_lookup *lookup)
{
    const struct tavola_entity *entity;
    struct tavola_error ignored;
    struct tavola_cursor *cursor = tavola_lookup(client, lookup);
    bool found = tavola_cursor_next(cursor, &entity, &ignored);

    tavola_cursor_free(cursor);
    return found;
}

static bool is_number(enum tavola_type type)
{
    return type == TAVOLA_INT32 || type == TAVOLA_INT64 || type == TAVOLA_DOUBLE;
}

/* Whether both are one value in an index if their texts are: equal numbers are, whatever their types. */
static bool are_alike(enum tavola_type a, enum tavola_type b)
{
    return a == b || (is_number(a) && is_number(b));
}

/* Try another type for the value at this position. text: the value without its type. */
static bool try_type(struct tavola *client, const struct tavola_lookup *lookup, size_t position,
    const char *type, const char *text)
{
    struct tavola_entity *values = tavola_entity_new(TAVOLA_KEY("", ""));
    struct tavola_value equals[MAX_EQUALS];
    struct tavola_lookup other = *lookup;
    struct tavola_error ignored;
    bool found = false;

    assert(lookup->equals_count <= MAX_EQUALS);
    memcpy(equals, lookup->equals, lookup->equals_count * sizeof(*equals));
    other.equals = equals;
    other.keys_only = true;
    other.latest = false;
    other.select = NULL;
    other.page_size = 1;
    if (tavola_entity_set_text(values, "Value", type, text, &ignored) == TAVOLA_OK) {
        equals[position] = *tavola_entity_get(values, "Value");
        found = !are_alike(equals[position].type, lookup->equals[position].type) &&
                finds_something(client, &other);
    }
    tavola_entity_free(values);
    return found;
}

void nothing_found_by_lookup(struct tavola *client, const struct tavola_lookup *lookup, char *const *words)
{
    static const char *const types[] = { "string", "int32", "int64", "double", "boolean", "datetime",
        "guid" };

    for (size_t i = 0; i < lookup->equals_count && i < MAX_EQUALS; i++) {
        const char *equals = lookup->equals[i].type != TAVOLA_STRING ? strchr(words[i], '=') : NULL;
        const char *text = equals ? equals + 1 : words[i];

        for (size_t k = 0; k < ARRAY_LEN(types); k++)
            if (try_type(client, lookup, i, types[k], text)) {
                fprintf(stderr,
                    "tavola: %s finds nothing, but %s=%s does: a value is text unless its type stands in "
                    "front\n",
                    words[i], types[k], text);
                return;
            }
    }
}
