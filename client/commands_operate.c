/*
 * commands_operate.c - the commands of an operator.
 */
#include "client/command.h"

#include "client/health.h"
#include "store/migrate.h"

enum { HEALTH_TIMEOUT_MS = 3000 };

static void print_line(void *context, const char *line)
{
    (void)context;
    printf("migrate: %s\n", line);
    fflush(stdout);
}

static int run_migrate(const struct client_config *config, int argc, char **argv)
{
    struct error err = { 0 };

    (void)argv;
    if (argc != 0)
        return command_misused("migrate", "");
    if (!config->postgres) {
        fprintf(stderr, "tavola migrate: TAVOLA_POSTGRES is not set; it says which database to migrate, for "
                        "example TAVOLA_POSTGRES='host=/var/run/postgresql dbname=tavola'\n");
        return COMMAND_MISUSED;
    }
    if (migrate_run(config->postgres, print_line, NULL, &err) == STATUS_OK)
        return COMMAND_OK;
    fprintf(stderr, "tavola migrate: %s\n", err.message);
    return COMMAND_FAILED;
}

static int run_health(const struct client_config *config, int argc, char **argv)
{
    struct error err = { 0 };

    (void)argv;
    if (argc != 0)
        return command_misused("health", "");
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
        .arguments = "",
        .help = "bring the database of TAVOLA_POSTGRES to this program's schema",
        .run = run_migrate,
    },
    {
        .words = "health",
        .arguments = "",
        .help = "ask the server of TAVOLA_TARGET whether it serves; exit code 0 if so",
        .run = run_health,
    },
};

const struct command_group commands_operate = { "Operating", commands, ARRAY_LEN(commands) };
