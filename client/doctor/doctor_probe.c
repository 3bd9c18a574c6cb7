/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_probe.c - one entity's way through the service: written, found by an index, deleted by a transaction.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "client/connect.h"
#include "client/doctor/doctor.h"

#define PART "probe"

static const double NS_PER_SECOND = 1e9;

enum { WAIT_MS = 10000, NAME_BYTES = 64 };

struct probe {
    struct tavola *client;
    struct findings *out;
    char table[NAME_BYTES], index[NAME_BYTES];
    struct tavola_written written;
    struct tavola_error error;
};

/* A step returns the code of its last call. It may set a message of its own. */
struct step {
    enum tavola_code (*run)(struct probe *probe);
    const char *what;   /* what the step does */
    const char *remedy; /* where to look if the step fails */
};

static const struct tavola_key entity_key = { "doctor", "1" };

static enum tavola_code step_create_table(struct probe *probe)
{
    return tavola_create_table(probe->client, probe->table, &probe->error);
}

static enum tavola_code step_create_index(struct probe *probe)
{
    const struct tavola_index index = {
        .name = probe->index, .table = probe->table, .by = (const char *const[]){ "Name", NULL }
    };

    return tavola_create_index(probe->client, &index, WAIT_MS, &probe->error);
}

/* The timestamp of a new entity is the time of the server's clock. */
static void compare_clocks(const struct probe *probe, double before)
{
    double after = doctor_clock();
    double theirs = (double)probe->written.timestamp.seconds + probe->written.timestamp.nanos / NS_PER_SECOND;

    doctor_compare_clocks("server", theirs, fmin(fmax(theirs, before), after), probe->out);
}

static enum tavola_code step_write(struct probe *probe)
{
    const struct tavola_write_options options = { .written = &probe->written };
    struct tavola_entity *entity = tavola_entity_new(entity_key);
    enum tavola_code code;
    double before;

    tavola_entity_set_string(entity, "Name", "probe");
    before = doctor_clock();
    code = tavola_write(probe->client, probe->table, TAVOLA_INSERT, entity, &options, &probe->error);
    if (code == TAVOLA_OK)
        compare_clocks(probe, before);
    tavola_entity_free(entity);
    return code;
}

/* Check that the index finds the expected number of entities. */
static enum tavola_code find(struct probe *probe, const struct tavola_lookup *lookup, int wanted)
{
    struct tavola_cursor *cursor = tavola_lookup(probe->client, lookup);
    const struct tavola_entity *entity;
    int found = 0;

    while (tavola_cursor_next(cursor, &entity, &probe->error))
        found++;
    tavola_cursor_free(cursor);
    if (probe->error.code != TAVOLA_OK || found == wanted)
        return probe->error.code;
    probe->error = (struct tavola_error){ .code = TAVOLA_DATA_LOSS };
    snprintf(probe->error.message, sizeof(probe->error.message), "the index finds %d entities in place of %d",
        found, wanted);
    return TAVOLA_DATA_LOSS;
}

static enum tavola_code step_find(struct probe *probe)
{
    const struct tavola_value name = TAVOLA_TEXT("probe");
    const struct tavola_lookup lookup = { .index = probe->index,
        .equals = &name,
        .equals_count = 1,
        .consistency_token = probe->written.consistency_token,
        .timeout_ms = WAIT_MS };

    return find(probe, &lookup, 1);
}

static enum tavola_code step_delete(struct probe *probe)
{
    struct tavola_transaction *transaction = tavola_transaction_new(NULL);
    enum tavola_transaction_state state = TAVOLA_TRANSACTION_PENDING;
    enum tavola_code code;

    tavola_transaction_delete(transaction, probe->table, entity_key, NULL);
    code = tavola_transaction_submit(probe->client, transaction, &probe->error);
    if (code == TAVOLA_OK)
        code = tavola_transaction_wait(
            probe->client, tavola_transaction_id(transaction), WAIT_MS, &state, &probe->error);
    tavola_transaction_free(transaction);
    if (code != TAVOLA_OK || state == TAVOLA_TRANSACTION_DONE)
        return code;
    probe->error = (struct tavola_error){ .code = TAVOLA_DEADLINE_EXCEEDED,
        .message = "the transaction is not done within 10 seconds" };
    return probe->error.code;
}

static enum tavola_code step_find_nothing(struct probe *probe)
{
    const struct tavola_value name = TAVOLA_TEXT("probe");
    const struct tavola_lookup lookup = {
        .index = probe->index, .equals = &name, .equals_count = 1, .latest = true, .timeout_ms = WAIT_MS
    };

    return find(probe, &lookup, 0);
}

#define REMEDY_SERVER "the reason's line in docs/errors.md; the server's log"
#define REMEDY_WORKER                                                                                        \
    "tavola top: does a worker run, is a queue paused? docs/runbooks/TavolaWorkLag.md; the workers' log"

static const struct step steps[] = {
    { step_create_table, "create a table", REMEDY_SERVER },
    { step_create_index, "create an index and wait until it is built", REMEDY_WORKER },
    { step_write, "write an entity", REMEDY_SERVER },
    { step_find, "find it by the index, as fresh as the write", REMEDY_WORKER },
    { step_delete, "delete it by a transaction", REMEDY_WORKER },
    { step_find_nothing, "find it no more", REMEDY_WORKER },
};

/* Write the error as text: "NOT_FOUND / TABLE_NOT_FOUND: ...". */
static void describe_error(const struct tavola_error *error, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s: %s", tavola_code_name(error->code), *error->reason ? " / " : "",
        error->reason, error->message);
}

static const struct finding without_token = { .severity = SEVERITY_NOTE,
    .part = STR_LITERAL(PART),
    .what = STR_LITERAL(
        "left out: the server takes calls with a token only, and it has accepted none from this command"),
    .remedy = STR_LITERAL("name a file with one: --token-file FILE, or TAVOLA_TOKEN_FILE") };

static bool run_step(struct probe *probe, const struct step *step)
{
    int64_t began_us = clock_monotonic_us();
    enum tavola_code code = step->run(probe);
    char what[640], why[600];

    if (code == TAVOLA_OK) {
        snprintf(
            what, sizeof(what), "%s: %.1f ms", step->what, (double)(clock_monotonic_us() - began_us) / 1000);
        findings_add_ok(probe->out, PART, what);
        return true;
    }
    if (code == TAVOLA_UNAUTHENTICATED) {
        findings_add(probe->out, &without_token);
        return false;
    }
    describe_error(&probe->error, why, sizeof(why));
    snprintf(what, sizeof(what), "it could not %s: %s", step->what, why);
    findings_add(probe->out, &(struct finding){ .severity = SEVERITY_PROBLEM,
                                 .part = STR_LITERAL(PART),
                                 .what = str_of(what),
                                 .why = STR_LITERAL("callers cannot do it either"),
                                 .remedy = str_of(step->remedy) });
    return false;
}

static void delete_table(struct probe *probe)
{
    struct tavola_error error = { 0 };
    enum tavola_code code = tavola_delete_table(probe->client, probe->table, &error);
    char what[160];

    if (code == TAVOLA_OK || code == TAVOLA_NOT_FOUND)
        return;
    snprintf(
        what, sizeof(what), "the probe's table %s is still there: %s", probe->table, tavola_code_name(code));
    findings_add(probe->out, &(struct finding){ .severity = SEVERITY_NOTE,
                                 .part = STR_LITERAL(PART),
                                 .what = str_of(what),
                                 .why = STR_LITERAL("it takes a little room"),
                                 .remedy = STR_LITERAL("tavola table delete, with its name") });
}

void doctor_probe(const struct client_config *config, struct findings *out)
{
    struct probe probe = { .out = out };
    struct error err = { 0 };
    uint32_t suffix = (uint32_t)random_bits();
    size_t done = 0;

    if (client_connect(config, 1, &probe.client, &err) != STATUS_OK) {
        findings_add(out, &(struct finding){ .severity = SEVERITY_PROBLEM,
                              .part = STR_LITERAL(PART),
                              .what = str_of(err.message),
                              .why = STR_LITERAL("no call can be made with these settings"),
                              .remedy = STR_LITERAL("tavola --print-config shows the settings in effect") });
        return;
    }
    snprintf(probe.table, sizeof(probe.table), "doctor%08" PRIx32, suffix);
    snprintf(probe.index, sizeof(probe.index), "doctor%08" PRIx32 "ByName", suffix);
    while (done < sizeof(steps) / sizeof(steps[0]) && run_step(&probe, &steps[done]))
        done++;
    if (done > 0)
        delete_table(&probe);
    tavola_close(probe.client);
}
