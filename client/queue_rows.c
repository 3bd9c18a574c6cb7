/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_rows.c - see the header.
 */
#include "client/queue_rows.h"

#include <string.h>

#include "api/json/json_forms.h"

static bool is_text(const struct tavola_record *record, const char *path, const char *wanted)
{
    char *text = tavola_record_text(record, path);
    bool same = strcmp(text, wanted) == 0;

    tavola_free(text);
    return same;
}

static void write_limit(const struct tavola_record *work, bool human, struct buf *out)
{
    int64_t limit = tavola_record_integer(work, "rateLimit");

    if (human && limit == 0)
        buf_append_byte(out, '-');
    else
        buf_format(out, human ? "%lld/s" : "%lld", (long long)limit);
}

/* Not shown for a paused queue: the average still holds work from before the pause. */
static void write_rate(const struct tavola_record *work, bool human, struct buf *out)
{
    double rate = tavola_record_number(work, "appliedPerSecond", 0);

    if (!human)
        json_forms_write_double(out, rate);
    else if (is_text(work, "state", "PAUSED"))
        buf_append_byte(out, '-');
    else
        buf_format(out, "%.1f", rate);
}

static void write_fresh(const struct tavola_record *work, bool human, struct buf *out)
{
    double seconds = tavola_record_number(work, "timeToFresh", -1);
    char text[ROWS_MAX_CELL_BYTES];

    if (human)
        buf_append(out, str_of(rows_duration(is_text(work, "state", "PAUSED") ? -1 : seconds, text)));
    else if (seconds >= 0)
        json_forms_write_double(out, seconds);
}

const struct rows_column queue_rows_columns[] = {
    { "queue", "name", CELL_TEXT, true, "queue", NULL },
    { "work", "kind", CELL_LOWER, false, NULL, NULL },
    { "state", "state", CELL_TEXT, false, NULL, NULL },
    { "limit", NULL, CELL_NUMBER, false, "rate_limit", write_limit },
    { "open", "open_intents", CELL_NUMBER, false, NULL, NULL },
    { "oldest", "oldest_age", CELL_DURATION, false, NULL, NULL },
    { "applied/s", NULL, CELL_RATE, false, "applied_per_second", write_rate },
    { "fresh in", NULL, CELL_DURATION, false, "time_to_fresh", write_fresh },
    { NULL, NULL, CELL_TEXT, false, NULL, NULL },
};

void queue_rows_print(struct rows *rows, const struct tavola_record *reply)
{
    struct tavola_record queue, work;

    for (size_t position = 0; tavola_record_next(reply, "queues", &position, &queue);) {
        if (rows_are_messages(rows))
            rows_add(rows, &queue);
        for (size_t i = 0; !rows_are_messages(rows) && tavola_record_next(&queue, "work", &i, &work);)
            rows_add_part(rows, &queue, &work);
    }
    rows_close(rows);
}

bool queue_rows_indexes_are_paused(const struct tavola_record *reply)
{
    struct tavola_record queue, work;

    for (size_t position = 0; tavola_record_next(reply, "queues", &position, &queue);)
        for (size_t i = 0; tavola_record_next(&queue, "work", &i, &work);)
            if (is_text(&work, "kind", "RECONCILE") && !is_text(&work, "state", "PAUSED"))
                return false;
    return true;
}
