/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_audit.c - prints the records of administrative calls, the newest first.
 */
#include "client/command.h"

#include "api/json/json_forms.h"
#include "base/clock.h"
#include "client/calls.h"
#include "client/rows.h"
#include "client/time_text.h"
#include "domain/ticks.h"

#define ARGUMENTS "[--account NAME] [--since TIME] [--until TIME] " ROWS_FORM

static void write_key(const struct tavola_record *record, bool human, struct buf *out)
{
    static const char *const keys[] = { "-", "first", "second" };
    int64_t key = tavola_record_integer(record, "key");

    (void)human;
    buf_append(out, str_of(key >= 0 && (size_t)key < ARRAY_LEN(keys) ? keys[key] : "-"));
}

static void write_credential(const struct tavola_record *record, bool human, struct buf *out)
{
    static const char *const names[] = { "none", "token", "signature", "database" };
    int64_t credential = tavola_record_integer(record, "credential");

    (void)human;
    buf_append(
        out, str_of(credential >= 0 && (size_t)credential < ARRAY_LEN(names) ? names[credential] : "none"));
}

static void write_target(const struct tavola_record *record, bool human, struct buf *out)
{
    int64_t left_out = tavola_record_integer(record, "leftOut");
    char *target = tavola_record_text(record, "target");

    buf_append(out, str_of(target));
    if (human && left_out > 0)
        buf_format(out, " (and %lld calls without a record)", (long long)left_out);
    tavola_free(target);
}

static const struct rows_column columns[] = {
    { "when", "recorded", CELL_TIME, false, NULL, NULL },
    { "account", "account", CELL_DASH, false, NULL, NULL },
    { "credential", NULL, CELL_TEXT, false, "credential", write_credential },
    { "key", NULL, CELL_TEXT, false, "key", write_key },
    { "method", "method", CELL_TEXT, false, NULL, NULL },
    { "outcome", "outcome", CELL_TEXT, false, NULL, NULL },
    { "target", NULL, CELL_TEXT, false, "target", write_target },
    { NULL, NULL, CELL_TEXT, false, NULL, NULL },
};

/* A time as a member of the request. false: it is none. */
static bool add_time(
    const struct arguments *arguments, const char *option, const char *name, struct request *request)
{
    const char *text = arguments_value(arguments, option);
    int64_t ticks, seconds;
    struct buf time;
    int32_t nanos;

    if (!text)
        return true;
    if (*text == '+' || !time_text_parse(text, clock_ticks(), &ticks))
        return false;
    ticks_to_timestamp(ticks, &seconds, &nanos);
    buf_init(&time, NULL);
    if (json_forms_write_timestamp(&time, seconds, nanos)) {
        buf_append_byte(&time, '\0');
        request_text(request, name, time.data);
    }
    buf_cleanup(&time);
    return true;
}

static int run_audit(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "audit" };
    struct request request;
    struct rows rows;

    if (!arguments_read(ARGUMENTS, argc, argv, &arguments) || !rows_open(&rows, &arguments, columns))
        return COMMAND_MISUSED;
    request_begin(&request);
    request_text(&request, "account", arguments_value(&arguments, "--account"));
    if (arguments.count != 0 || !add_time(&arguments, "--since", "since", &request) ||
        !add_time(&arguments, "--until", "until", &request)) {
        request_end(&request);
        return command_misused("audit", ARGUMENTS " (a TIME as 2026-01-31 or 2026-01-31T12:00:00Z)");
    }
    return calls_print_list(config, "ListAuditRecords", "records", &rows, &request);
}

static const struct command commands[] = {
    {
        .words = "audit",
        .arguments = ARGUMENTS,
        .help = "print the administrative calls, the newest first: when, account, credential, key, method, "
                "outcome and "
                "what was named; a TIME as 2026-01-31 or 2026-01-31T12:00:00Z",
        .run = run_audit,
    },
};

const struct command_group commands_audit = { "Audit", commands, ARRAY_LEN(commands) };
