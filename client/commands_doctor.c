/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_doctor.c - the command that looks for what breaks a promise of the service, or soon will.
 */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "client/command.h"
#include "client/doctor/doctor.h"

#define ARGUMENTS "[--json] [--all] [--no-probe]"

enum { DEFAULT_WIDTH = 100, MIN_WIDTH = 40 };

static int terminal_width(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return DEFAULT_WIDTH;
    return size.ws_col < MIN_WIDTH ? MIN_WIDTH : size.ws_col;
}

static void print_findings(const struct findings *findings, const struct arguments *arguments)
{
    size_t counts[SEVERITIES] = { 0 };

    if (arguments_value(arguments, "--json")) {
        findings_print_json(findings, stdout);
        return;
    }
    findings_print(findings, arguments_value(arguments, "--all") != NULL, terminal_width(), stdout);
    for (size_t i = 0; i < findings->count; i++)
        counts[findings->items[i].severity]++;
    printf("%zu checks: %zu problems, %zu warnings, %zu notes\n", findings->count, counts[SEVERITY_PROBLEM],
        counts[SEVERITY_WARNING], counts[SEVERITY_NOTE]);
}

static int run_doctor(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "doctor" };
    struct findings findings;
    struct arena arena;
    enum severity worst;

    if (!command_arguments(ARGUMENTS, 0, argc, argv, &arguments))
        return COMMAND_MISUSED;
    /* report a failed connection as a finding; keep the log of gRPC's core off the screen */
    setenv("GRPC_VERBOSITY", "NONE", 0);
    arena_init(&arena);
    findings_init(&findings, &arena);
    doctor_check_postgres(config, &findings);
    doctor_check_redis(config, &findings);
    doctor_check_chunks(config, &findings);
    doctor_check_certificates(config, &findings);
    if (doctor_check_server(config, &findings) && !arguments_value(&arguments, "--no-probe"))
        doctor_probe(config, &findings);
    print_findings(&findings, &arguments);
    worst = findings_worst(&findings);
    arena_cleanup(&arena);
    return worst == SEVERITY_PROBLEM ? COMMAND_FAILED : COMMAND_OK;
}

static void print_help(FILE *out)
{
    fprintf(out,
        "Looks at PostgreSQL (TAVOLA_POSTGRES), Redis (TAVOLA_REDIS), certificates and the server\n"
        "(TAVOLA_TARGET), and says for each finding why it matters and how it is remedied. Then a probe "
        "makes a\n"
        "table, writes an entity, finds it by an index, deletes it by a transaction, and deletes the table.\n"
        "\n"
        "  --all       print the checks that found nothing too\n"
        "  --json      print all checks as one JSON object\n"
        "  --no-probe  change nothing: leave the probe out\n"
        "\n"
        "Exit code: 0 if there is no problem (there may be warnings and notes), 1 if there is one, 2 for "
        "wrong\n"
        "arguments.\n");
}

static const struct command commands[] = {
    {
        .words = "doctor",
        .arguments = ARGUMENTS,
        .help = "look for settings and states that break a promise of the service, or soon will",
        .print_more = print_help,
        .run = run_doctor,
    },
};

const struct command_group commands_doctor = { "Health", commands, 1 };
