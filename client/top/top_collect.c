/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_collect.c - see the header.
 */
#include "client/top/top_collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/metrics.h"
#include "client/request.h"

/* A server that does not answer must not hold up the keys for long. */
enum { TIMEOUT_MS = 2000, HOT_LIMIT = 50, CLASSES = METRICS_BOUNDS + 1 };

/* Seconds: two reports of a worker that lie closer together are the same one. */
#define MIN_REPORT_S 0.5

static const struct top_column method_columns[] = {
    { "method", 36, true, TOP_PLAIN, false },
    { "calls/s", 9, false, TOP_RATE, true },
    { "failed/s", 9, false, TOP_RATE, false },
    { "median", 9, false, TOP_DURATION, false },
    { "p99", 9, false, TOP_DURATION, false },
    { "calls", 10, false, TOP_PLAIN, false },
    { NULL, 0, false, TOP_PLAIN, false },
};

static const struct top_column slowest_columns[] = {
    { "slow calls of", 22, true, TOP_PLAIN, false },
    { "slowest", 9, false, TOP_DURATION, false },
    { "mean", 9, false, TOP_DURATION, false },
    { "calls", 8, false, TOP_PLAIN, false },
    { "table", 20, true, TOP_PLAIN, false },
    { "by", 14, true, TOP_PLAIN, false },
    { "rows", 8, false, TOP_PLAIN, false },
    { "account", 16, true, TOP_PLAIN, false },
    { NULL, 0, false, TOP_PLAIN, false },
};

static const struct top_column worker_columns[] = {
    { "worker", 22, true, TOP_PLAIN, false },
    { "does", 26, true, TOP_PLAIN, false },
    { "keys/s", 8, false, TOP_RATE, true },
    { "steps/s", 8, false, TOP_RATE, false },
    { "buried", 7, false, TOP_PLAIN, false },
    { "leases", 7, false, TOP_PLAIN, false },
    { "told", 8, false, TOP_DURATION, false },
    { NULL, 0, false, TOP_PLAIN, false },
};

static const struct top_column queue_columns[] = {
    { "queue", 6, true, TOP_PLAIN, false },
    { "work", 12, true, TOP_PLAIN, false },
    { "state", 9, true, TOP_PLAIN, false },
    { "open", 8, false, TOP_PLAIN, false },
    { "oldest", 9, false, TOP_DURATION, true },
    { "applied/s", 10, false, TOP_RATE, false },
    { "fresh in", 9, false, TOP_DURATION, false },
    { NULL, 0, false, TOP_PLAIN, false },
};

static const struct top_column index_columns[] = {
    { "index", 24, true, TOP_PLAIN, false },
    { "state", 11, true, TOP_PLAIN, false },
    { "open", 8, false, TOP_PLAIN, false },
    { "lag", 9, false, TOP_DURATION, true },
    { "applied/s", 10, false, TOP_RATE, false },
    { "violations", 11, false, TOP_PLAIN, false },
    { "table", 24, true, TOP_PLAIN, false },
    { NULL, 0, false, TOP_PLAIN, false },
};

static const struct top_column hot_columns[] = {
    { "account", 10, true, TOP_PLAIN, false },
    { "table or index", 20, true, TOP_PLAIN, false },
    { "looks like", 15, true, TOP_PLAIN, false },
    { "reads/s", 8, false, TOP_RATE, false },
    { "writes/s", 8, false, TOP_RATE, false },
    { "share", 6, false, TOP_SHARE, true },
    { "partition", 30, true, TOP_PLAIN, false },
    { NULL, 0, false, TOP_PLAIN, false },
};

static const struct top_column operation_columns[] = {
    { "operation", 14, true, TOP_PLAIN, false },
    { "of", 24, true, TOP_PLAIN, false },
    { "state", 9, true, TOP_PLAIN, false },
    { "done", 10, false, TOP_PLAIN, false },
    { "of rows", 10, false, TOP_PLAIN, false },
    { "share", 6, false, TOP_SHARE, true },
    { NULL, 0, false, TOP_PLAIN, false },
};

static const struct top_column dead_letter_columns[] = {
    { "count", 8, false, TOP_PLAIN, false },
    { "last failed", 21, true, TOP_PLAIN, false },
    { "cause", 90, true, TOP_PLAIN, false },
    { NULL, 0, false, TOP_PLAIN, false },
};

static const struct top_column total_columns[] = {
    { "calls", 0, false, TOP_PLAIN, false },
    { NULL, 0, false, TOP_PLAIN, false },
};

void top_collect_init(struct top_view *view)
{
    static const struct {
        const char *title;
        const struct top_column *columns;
        int sort;
    } sections[TOP_SECTIONS] = {
        [TOP_METHODS] = { "Methods", method_columns, 1 },
        [TOP_SLOWEST] = { "Slowest calls of ten minutes", slowest_columns, 1 },
        [TOP_QUEUES] = { "Queues", queue_columns, 4 },
        [TOP_INDEXES] = { "Indexes", index_columns, 3 },
        [TOP_HOT] = { "Hot partitions", hot_columns, 5 },
        [TOP_WORKERS] = { "Workers", worker_columns, 2 },
        [TOP_OPERATIONS] = { "Operations", operation_columns, 5 },
        [TOP_DEAD_LETTERS] = { "Dead letters", dead_letter_columns, 0 },
    };

    memset(view, 0, sizeof(*view));
    view->totals.columns = total_columns;
    view->server.calls_per_s = view->server.dead_letters = -1;
    for (size_t i = 0; i < TOP_SECTIONS; i++) {
        view->tables[i].title = sections[i].title;
        view->tables[i].columns = sections[i].columns;
        view->tables[i].sort = sections[i].sort;
    }
}

/* ---- calls ---- */

/* NULL: the call failed, and view->problem says why. */
static struct tavola_reply *ask_server(
    struct top_view *view, struct tavola *client, const char *method, const char *request)
{
    const struct tavola_question question = { method, request, TIMEOUT_MS };
    struct tavola_reply *reply;
    struct tavola_error error;

    if (view->is_away)
        return NULL;
    if (tavola_ask(client, &question, &reply, &error) == TAVOLA_OK)
        return reply;
    view->is_away = error.code == TAVOLA_UNAVAILABLE || error.code == TAVOLA_DEADLINE_EXCEEDED;
    snprintf(view->problem, sizeof(view->problem), "%s: %s%s%.90s", method, tavola_code_name(error.code),
        *error.reason ? " " : ": ", *error.reason ? error.reason : error.message);
    return NULL;
}

static void set_text(struct top_cell *cell, const struct tavola_record *record, const char *path)
{
    char *text = tavola_record_text(record, path);

    snprintf(cell->text, sizeof(cell->text), "%s", text);
    for (char *c = cell->text; *c; c++)
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    tavola_free(text);
}

static void set_number(struct top_cell *cell, const struct tavola_record *record, const char *path)
{
    cell->number = tavola_record_number(record, path, -1);
}

/*
 * Fill the cells of a row by the fields of a record, in the order of the columns; NULL: the cell is left as
 * it is.
 */
static void fill_row(const struct top_table *table, struct top_row *row, const struct tavola_record *record,
    const char *const *paths)
{
    for (int i = 0; table->columns[i].title; i++)
        if (!paths[i])
            continue;
        else if (table->columns[i].is_text)
            set_text(&row->cells[i], record, paths[i]);
        else
            set_number(&row->cells[i], record, paths[i]);
}

/* ---- the server and its methods ---- */

static void read_server(struct top_server *server, const struct tavola_record *sample)
{
    double covered = tavola_record_number(sample, "covered", 0);

    if (covered <= 0)
        return;
    server->calls_per_s = tavola_record_number(sample, "calls", 0) / covered;
    server->failed_per_s = tavola_record_number(sample, "failed", 0) / covered;
    server->median_s = tavola_record_number(sample, "median", -1);
    server->slow_s = tavola_record_number(sample, "slow", -1);
    server->waiting = tavola_record_number(sample, "waiting", 0);
    server->connections = tavola_record_number(sample, "connections", 0);
    server->memory_bytes = tavola_record_number(sample, "memoryBytes", 0);
    if (server->load.history_count == TOP_HISTORY)
        memmove(server->load.history, server->load.history + 1,
            sizeof(server->load.history) - sizeof(server->load.history[0]));
    else
        server->load.history_count++;
    server->load.history[server->load.history_count - 1] = server->calls_per_s;
}

/* The counts of a list of numbers, as text one on each line. */
static void read_classes(const struct tavola_record *method, uint64_t out[static CLASSES])
{
    char *text = tavola_record_text(method, "durations"), *next = text;

    for (size_t i = 0; i < CLASSES; i++)
        out[i] = *next ? strtoull(next, &next, 10) : 0;
    tavola_free(text);
}

/* The durations of the calls of this round: those of all rounds less those before. */
static void set_durations(struct top_row *row, struct top_row *before, const struct tavola_record *method)
{
    uint64_t now[CLASSES], round[CLASSES], calls = 0;

    read_classes(method, now);
    for (size_t i = 0; i < CLASSES; i++) {
        round[i] = now[i] - (uint64_t)before->history[i];
        calls += round[i];
        before->history[i] = (double)now[i];
    }
    row->cells[3].number = calls > 0 ? (double)metrics_quantile_us(round, 0.5) / 1e6 : -1;
    row->cells[4].number = calls > 0 ? (double)metrics_quantile_us(round, 0.99) / 1e6 : -1;
}

/* passed_s 0: the first round, which has no rates. */
static void add_method(struct top_view *view, const struct tavola_record *method, double passed_s)
{
    double calls = tavola_record_number(method, "calls", 0),
           failed = tavola_record_number(method, "failed", 0);
    char *name = tavola_record_text(method, "method");
    struct top_row *row = top_table_row(&view->tables[TOP_METHODS], name);
    struct top_row *before = top_table_row(&view->totals, name);

    tavola_free(name);
    if (!row || !before)
        return;
    set_text(&row->cells[0], method, "method");
    set_durations(row, before, method);
    row->cells[1].number = passed_s > 0 ? (calls - before->cells[0].number) / passed_s : -1;
    row->cells[2].number = passed_s > 0 ? (failed - before->cells[1].number) / passed_s : -1;
    row->cells[5].number = calls;
    before->cells[0].number = calls;
    before->cells[1].number = failed;
}

/* Leave the method of "EntityService/QueryEntities". */
static void cut_service(char *text)
{
    const char *method = strchr(text, '/');

    if (method)
        memmove(text, method + 1, strlen(method));
}

/* Calls of one method to one table of one account by one access path are one row. */
static void add_slowest(struct top_view *view, const struct tavola_record *group)
{
    static const char *const paths[] = { "method", "slowest", "mean", "calls", "table", "accessPath",
        "rowsExamined", "account" };
    char *names[4] = { tavola_record_text(group, "method"), tavola_record_text(group, "account"),
        tavola_record_text(group, "table"), tavola_record_text(group, "accessPath") };
    char key[TOP_TEXT];
    struct top_row *row;

    snprintf(key, sizeof(key), "%s %s %s %s", names[2], names[3], names[0], names[1]);
    for (int i = 0; i < 4; i++)
        tavola_free(names[i]);
    row = top_table_row(&view->tables[TOP_SLOWEST], key);
    if (!row)
        return;
    fill_row(&view->tables[TOP_SLOWEST], row, group, paths);
    cut_service(row->cells[0].text);
    if (strcmp(row->cells[5].text, "UNSPECIFIED") == 0)
        row->cells[5].text[0] = '\0';
}

static void collect_methods(struct top_view *view, struct tavola *client, double passed_s)
{
    struct tavola_reply *reply = ask_server(view, client, "ListServerSamples", "{}");
    struct tavola_record page, one, last = { .type = NULL };
    char *version;

    if (!reply)
        return;
    page = tavola_reply_record(reply);
    version = tavola_record_text(&page, "version");
    snprintf(view->server.version, sizeof(view->server.version), "%s", version);
    tavola_free(version);
    for (size_t position = 0; tavola_record_next(&page, "samples", &position, &one);)
        last = one;
    if (last.type)
        read_server(&view->server, &last);
    top_table_begin(&view->tables[TOP_METHODS]);
    for (size_t position = 0; tavola_record_next(&page, "methods", &position, &one);)
        add_method(view, &one, passed_s);
    top_table_end(&view->tables[TOP_METHODS]);
    top_table_begin(&view->tables[TOP_SLOWEST]);
    for (size_t position = 0; tavola_record_next(&page, "slowest", &position, &one);)
        add_slowest(view, &one);
    top_table_end(&view->tables[TOP_SLOWEST]);
    tavola_reply_free(reply);
}

/* ---- lists ---- */

struct section_list {
    enum top_section section;
    const char *method, *request, *field;
    const char *key[3];             /* fields that name a row; the last may be NULL */
    const char *paths[TOP_COLUMNS]; /* of the columns */
};

static void add_listed(
    struct top_table *table, const struct section_list *list, const struct tavola_record *record)
{
    char key[TOP_TEXT] = "";
    struct top_row *row;

    for (size_t i = 0; i < ARRAY_LEN(list->key) && list->key[i]; i++) {
        char *text = tavola_record_text(record, list->key[i]);
        size_t len = strlen(key);

        snprintf(key + len, sizeof(key) - len, "%s%s", i > 0 ? " " : "", text);
        tavola_free(text);
    }
    row = top_table_row(table, key);
    if (row)
        fill_row(table, row, record, list->paths);
}

static void collect_list(struct top_view *view, struct tavola *client, const struct section_list *list)
{
    struct tavola_reply *reply = ask_server(view, client, list->method, list->request);
    struct top_table *table = &view->tables[list->section];
    struct tavola_record page, one;

    if (!reply)
        return;
    page = tavola_reply_record(reply);
    top_table_begin(table);
    for (size_t position = 0; tavola_record_next(&page, list->field, &position, &one);)
        add_listed(table, list, &one);
    top_table_end(table);
    tavola_reply_free(reply);
}

static void add_work(
    struct top_table *table, const struct tavola_record *queue, const struct tavola_record *work)
{
    static const char *const paths[] = { NULL, "kind", "state", "openIntents", "oldestAge",
        "appliedPerSecond", "timeToFresh" };
    char *name = tavola_record_text(queue, "name"), *kind = tavola_record_text(work, "kind");
    char key[TOP_TEXT];
    struct top_row *row;

    snprintf(key, sizeof(key), "%s %s", name, kind);
    tavola_free(name);
    tavola_free(kind);
    row = top_table_row(table, key);
    if (!row)
        return;
    fill_row(table, row, work, paths);
    set_text(&row->cells[0], queue, "name");
}

/* What a worker does: its operations, the keys that its consumers have claimed, or nothing. */
static void describe_work(struct top_cell *cell, const struct tavola_record *worker)
{
    char *operations = tavola_record_text(worker, "operations");
    double keys = tavola_record_number(worker, "claimedKeys", 0);
    char claimed[32] = "";

    if (keys > 0)
        snprintf(claimed, sizeof(claimed), "%.0f claimed", keys);
    for (char *c = operations; *c; c++)
        if (*c == '\n')
            *c = ',';
    snprintf(cell->text, sizeof(cell->text), "%.*s%s%s", (int)sizeof(cell->text) - 40,
        *operations || *claimed ? operations : "waits", *operations && *claimed ? ", " : "", claimed);
    tavola_free(operations);
}

/*
 * Set the rates of a worker by what it has said now and before. If it has said nothing new since then, they stay.
 * before: its numbers, and when it had said them; 0: not yet.
 */
static void set_worker_rates(
    struct top_row *row, struct top_row *before, const struct tavola_record *worker, double said_s)
{
    static const char *const fields[] = { "reconciled", "stepped" };
    double passed_s = said_s - before->cells[2].number;
    bool is_first = before->cells[2].number == 0;

    if (!is_first && passed_s < MIN_REPORT_S)
        return;
    for (int i = 0; i < 2; i++) {
        double now = tavola_record_number(worker, fields[i], 0), then = before->cells[i].number;

        row->cells[2 + i].number = is_first || now < then ? -1 : (now - then) / passed_s;
        before->cells[i].number = now;
    }
    before->cells[2].number = said_s;
}

static void add_worker(struct top_view *view, const struct tavola_record *worker, double now_s)
{
    static const char *const paths[] = { "name", NULL, NULL, NULL, "buried", "leases", "reportAge" };
    char *name = tavola_record_text(worker, "name");
    struct top_row *row = top_table_row(&view->tables[TOP_WORKERS], name), *before;
    char key[TOP_TEXT];

    snprintf(key, sizeof(key), "worker %s", name);
    tavola_free(name);
    before = top_table_row(&view->totals, key);
    if (!row || !before)
        return;
    fill_row(&view->tables[TOP_WORKERS], row, worker, paths);
    describe_work(&row->cells[1], worker);
    set_worker_rates(row, before, worker, now_s - tavola_record_number(worker, "reportAge", 0));
}

static void collect_queues(struct top_view *view, struct tavola *client, double now_s)
{
    struct tavola_reply *reply = ask_server(view, client, "ListQueues", "{}");
    struct top_table *table = &view->tables[TOP_QUEUES];
    struct tavola_record page, queue, work;

    if (!reply)
        return;
    page = tavola_reply_record(reply);
    top_table_begin(table);
    for (size_t position = 0; tavola_record_next(&page, "queues", &position, &queue);)
        for (size_t i = 0; tavola_record_next(&queue, "work", &i, &work);)
            add_work(table, &queue, &work);
    top_table_end(table);
    top_table_begin(&view->tables[TOP_WORKERS]);
    for (size_t position = 0; tavola_record_next(&page, "workers", &position, &work);)
        add_worker(view, &work, now_s);
    top_table_end(&view->tables[TOP_WORKERS]);
    tavola_reply_free(reply);
}

/* How far each operation is. */
static void set_shares(struct top_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        struct top_cell *cells = table->rows[i].cells;

        cells[5].number = cells[4].number > 0 ? cells[3].number / cells[4].number : -1;
    }
}

static void count_dead_letters(struct top_view *view)
{
    const struct top_table *table = &view->tables[TOP_DEAD_LETTERS];

    view->server.dead_letters = 0;
    for (size_t i = 0; i < table->count; i++)
        view->server.dead_letters += table->rows[i].cells[0].number;
}

void top_collect_round(struct top_view *view, struct tavola *client, double now_s)
{
    static const struct section_list lists[] = {
        { TOP_INDEXES, "ListIndexes", "{\"pageSize\": 200}", "indexes", { "index.name", "index.table" },
            { "index.name", "status.state", "status.lag.openIntents", "status.lag.age",
                "status.lag.appliedPerSecond", "status.violations", "index.table" } },
        { TOP_HOT, "ListHotPartitions", "{\"span\": \"HOT_SPAN_MINUTE\", \"limit\": 50}", "partitions",
            { "account", "table", "partitionKey" },
            { "account", "table", "pattern", "readsPerSecond", "writesPerSecond", "share", "partitionKey" } },
        { TOP_OPERATIONS, "ListOperations", "{}", "operations", { "operationId", "kind" },
            { "kind", "target", "state", "done", "total", NULL } },
        { TOP_DEAD_LETTERS, "ListDeadLetters",
            "{\"filter\": {\"state\": \"DEAD_LETTER_STATE_DEAD\"}, \"groupByCause\": true}", "causes",
            { "cause", "example" }, { "count", "lastFailed", "cause" } },
    };

    double passed_s = view->read_s > 0 ? now_s - view->read_s : 0;

    view->problem[0] = '\0';
    view->is_away = false;
    collect_methods(view, client, passed_s);
    collect_queues(view, client, now_s);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        collect_list(view, client, &lists[i]);
    set_shares(&view->tables[TOP_OPERATIONS]);
    count_dead_letters(view);
    view->read_s = now_s;
}

/* ---- control ---- */

bool top_collect_switch_queue(struct top_view *view, struct tavola *client, const char *key)
{
    const struct top_row *row = top_table_row(&view->tables[TOP_QUEUES], key);
    struct tavola_reply *reply;
    struct request request;
    char kind[TOP_TEXT + 16];
    bool is_paused;

    if (!row)
        return false;
    is_paused = strcmp(row->cells[2].text, "PAUSED") == 0;
    snprintf(kind, sizeof(kind), "WORK_KIND_%s", row->cells[1].text);
    request_begin(&request);
    request_text(&request, "queue", row->cells[0].text);
    request_text(&request, "kind", kind);
    request_text(&request, "control", is_paused ? "QUEUE_CONTROL_RESUME" : "QUEUE_CONTROL_PAUSE");
    reply = ask_server(view, client, "ControlQueue", request_json(&request));
    request_end(&request);
    tavola_reply_free(reply);
    return reply != NULL;
}
