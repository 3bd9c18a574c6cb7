/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_rows.c - see the header.
 */
#include "client/index_rows.h"

#include <string.h>

#include "client/calls.h"

/* Dead letters: those of the violations that were not discarded. */
static void write_dead(const struct tavola_record *view, bool human, struct buf *out)
{
    int64_t violations = tavola_record_integer(view, "status.violations");

    (void)human;
    buf_format(out, "%lld", (long long)(violations - tavola_record_integer(view, "status.discarded")));
}

static void write_dash(const struct tavola_record *view, bool human, struct buf *out)
{
    (void)view;
    if (human)
        buf_append_byte(out, '-');
}

#define NAMES                                                                                                \
    { "index", "index.name", CELL_TEXT, false, "index", NULL },                                              \
        { "table", "index.table", CELL_TEXT, false, "table", NULL },                                         \
        { "state", "status.state", CELL_TEXT, false, NULL, NULL },                                           \
        { "open", "status.lag.open_intents", CELL_NUMBER, false, NULL, NULL },                               \
    {                                                                                                        \
        "lag", "status.lag.age", CELL_DURATION, false, NULL, NULL                                            \
    }
#define VIOLATIONS                                                                                           \
    { "violations", "status.violations", CELL_NUMBER, false, NULL, NULL },                                   \
        { "dead", NULL, CELL_NUMBER, false, "dead", write_dead },                                            \
        { "discarded", "status.discarded", CELL_NUMBER, false, NULL, NULL },                                 \
    {                                                                                                        \
        NULL, NULL, CELL_TEXT, false, NULL, NULL                                                             \
    }

const struct rows_column index_rows_columns[] = {
    NAMES,
    { "applied/s", "status.lag.applied_per_second", CELL_RATE, false, NULL, NULL },
    { "fresh in", "status.lag.time_to_fresh", CELL_DURATION, false, NULL, NULL },
    VIOLATIONS,
};

const struct rows_column index_rows_paused_columns[] = {
    NAMES,
    { "applied/s", NULL, CELL_NUMBER, false, "applied_per_second", write_dash },
    { "fresh in", NULL, CELL_NUMBER, false, "time_to_fresh", write_dash },
    VIOLATIONS,
};

static void add_index(struct rows *rows, const struct tavola_record *view)
{
    rows_add(rows, view);
    rows_note(rows, "copies of", "index.copies.sourceTable", view);
    rows_note(rows, "build failed:", "status.build.error.message", view);
    rows_note(rows, "", "status.violationCauses", view);
}

struct chosen {
    struct rows *rows;
    const char *table; /* NULL: any */
};

static void add_chosen(void *context, const struct tavola_record *view)
{
    const struct chosen *chosen = context;
    char *table = tavola_record_text(view, "index.table");

    if (!chosen->table || strcmp(chosen->table, table) == 0)
        add_index(chosen->rows, view);
    tavola_free(table);
}

bool index_rows_list(struct tavola *client, struct rows *rows, const char *table)
{
    struct chosen chosen = { rows, table };
    const struct calls_list list = { "ListIndexes", "indexes", add_chosen, &chosen };

    if (!calls_each(client, &list, NULL))
        return false;
    rows_close(rows);
    return true;
}
