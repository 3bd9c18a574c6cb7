/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_operate.c - the commands of an operator.
 */
#include "client/command.h"

#include "client/health.h"
#include "store/connection/migrate.h"
#include "store/session/epoch.h"

enum { HEALTH_TIMEOUT_MS = 3000 };

static void print_line(void *context, const char *line)
{
    (void)context;
    printf("migrate: %s\n", line);
    fflush(stdout);
}

static const char migrate_arguments[] = "[--plan | --refuse-older]";

static int run_migrate(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "migrate" };
    struct error err = { 0 };
    enum status status;
    bool plans, refuses;

    if (!command_arguments(migrate_arguments, 0, argc, argv, &arguments))
        return COMMAND_MISUSED;
    plans = arguments_value(&arguments, "--plan") != NULL;
    refuses = arguments_value(&arguments, "--refuse-older") != NULL;
    if (plans && refuses)
        return command_misused("migrate", migrate_arguments);
    if (!config->postgres) {
        fprintf(stderr, "tavola migrate: TAVOLA_POSTGRES is not set; it says which database to migrate, for "
                        "example TAVOLA_POSTGRES='host=/var/run/postgresql dbname=tavola'\n");
        return COMMAND_MISUSED;
    }
    if (plans)
        status = migrate_plan(config->postgres, print_line, NULL, &err);
    else if (refuses)
        status = migrate_refuse_older(config->postgres, print_line, NULL, &err);
    else
        status = migrate_run(config->postgres, print_line, NULL, &err);
    if (status == STATUS_OK)
        return COMMAND_OK;
    fprintf(stderr, "tavola migrate: %s\n", err.message);
    return COMMAND_FAILED;
}

static int run_epoch_raise(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "epoch raise" };
    struct error err = { 0 };
    int64_t epoch;

    if (!command_arguments("", 0, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (!config->postgres) {
        fprintf(
            stderr, "tavola epoch raise: TAVOLA_POSTGRES is not set; it says which database was restored\n");
        return COMMAND_MISUSED;
    }
    if (epoch_raise(config->postgres, &epoch, &err) != STATUS_OK)
        return command_failed("epoch raise", &err);
    printf(
        "epoch %lld: tokens, ETags and feed positions from before a restore are refused\n", (long long)epoch);
    return COMMAND_OK;
}

static void print_epoch_help(FILE *out)
{
    fprintf(out,
        "After the database of TAVOLA_POSTGRES was restored from a copy or a snapshot, before servers and "
        "workers\n"
        "start: docs/restores.md says when that is needed. Doing it once too often harms no data: clients\n"
        "read again what they watch.\n");
}

static int run_health(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "health" };
    struct error err = { 0 };

    if (!command_arguments("", 0, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (health_check(config, HEALTH_TIMEOUT_MS, &err) == STATUS_OK) {
        printf("%s answers SERVING\n", config->target);
        return COMMAND_OK;
    }
    fprintf(stderr, "tavola health: %s\n", err.message);
    return COMMAND_FAILED;
}

static const struct command commands[] = {
    {
        .words = "migrate",
        .arguments = migrate_arguments,
        .help = "migrate the database of TAVOLA_POSTGRES to this program's schema; --plan prints the locks "
                "this would take; --refuse-older ends an upgrade: older programs cannot come back",
        .run = run_migrate,
    },
    {
        .words = "epoch raise",
        .arguments = "",
        .help = "after a restore of the database of TAVOLA_POSTGRES: refuse tokens and ETags from before it",
        .print_more = print_epoch_help,
        .run = run_epoch_raise,
    },
    {
        .words = "health",
        .arguments = "",
        .help = "ask the server of TAVOLA_TARGET for its health; exit code 0 if it answers SERVING",
        .run = run_health,
    },
};

const struct command_group commands_operate = { "Operating", commands, ARRAY_LEN(commands) };
