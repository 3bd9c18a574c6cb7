/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_dev.c - a private stack on this machine, for a first try, tests, the demo and benchmarks.
 */
#include "client/command.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "client/dev/environment.h"
#include "client/dev/invitation.h"
#include "client/dev/stack.h"

#define DEFAULT_LISTEN "127.0.0.1:50051"
#define DEFAULT_HTTP_LISTEN "127.0.0.1:10002" /* the port of emulators of Azure Tables */

enum { COMMAND_STOP_TIMEOUT_MS = 30000, WATCH_MS = 1000, HOLDER_BYTES = 1024 };

/* ---- settings ---- */

static int report_failure(const char *command, const struct error *err)
{
    fprintf(stderr, "tavola %s: %s\n", command, err->message);
    return COMMAND_FAILED;
}

static const char *data_folder(const struct client_config *config, struct arena *arena)
{
    return config->data ? config->data : data_folder_default_path(arena);
}

/* ---- dev run ---- */

static void describe_stack(struct stack *stack)
{
    static const char *const transports[] = { "plain text", "TLS", "TLS with client certificates" };
    char text[HOLDER_BYTES];

    snprintf(text, sizeof(text), "server %s\ntransport %s\npostgres %s\nredis %s\nlogs %s\n", stack->target,
        transports[stack->transport], stack->postgres, stack->redis, stack->folder.log);
    data_folder_describe(&stack->folder, text);
}

/* Wait until a signal asks this program to stop, or a part of the stack ends by itself. */
static enum status watch(struct stack *stack, struct error *err)
{
    for (;;) {
        int signal_number = process_wait(WATCH_MS);

        if (signal_number != 0 && signal_number != SIGCHLD) {
            printf("\n"); /* a new line behind the ^C of the terminal */
            return STATUS_OK;
        }
        TRY(stack_check(stack, err));
    }
}

/* Whether the address has a fixed port. With port 0 only the server knows its port. */
static bool has_fixed_port(const char *name, const char *address)
{
    if (config_is_address(address) && strcmp(strrchr(address, ':'), ":0") != 0)
        return true;
    fprintf(stderr, "tavola dev run: %s has a bad value: \"%s\"; allowed: %s, but not port 0\n", name,
        address, CONFIG_ADDRESS_ALLOWED);
    return false;
}

/* Refuse settings that a private stack cannot use; they are not ignored. */
static bool check_settings(const struct client_config *config, const char *listen)
{
    const char *health = getenv("TAVOLA_HEALTH_LISTEN"), *http = getenv("TAVOLA_HTTP_LISTEN");

    if (config->postgres || config->redis.url) {
        fprintf(stderr,
            "tavola dev run: %s is set, but this stack has a PostgreSQL and a Redis of its own: unset it, or "
            "start tavolad and tavola-worker yourself\n",
            config->postgres ? "TAVOLA_POSTGRES" : "TAVOLA_REDIS");
        return false;
    }
    return has_fixed_port("TAVOLA_LISTEN", listen) &&
           (!http || !*http || has_fixed_port("TAVOLA_HTTP_LISTEN", http)) &&
           (!health || !*health || has_fixed_port("TAVOLA_HEALTH_LISTEN", health));
}

static int run_stack(const struct client_config *config, int argc, char **argv)
{
    const char *listen = getenv("TAVOLA_LISTEN");
    static const char *const settings[] = { "shared_buffers=256MB" };
    struct stack_options options = {
        .client = config,
        .postgres_settings = settings,
        .postgres_setting_count = ARRAY_LEN(settings),
        .listen = listen && *listen ? listen : DEFAULT_LISTEN,
        .http_listen = listen && *listen ? NULL : DEFAULT_HTTP_LISTEN,
        .with_server = true,
        .with_worker = true,
        .talks = true,
    };
    struct arguments arguments = { .command = "dev run" };
    struct error err = { 0 };
    struct arena arena;
    struct stack stack;
    enum status status;

    if (!command_arguments("", 0, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (!check_settings(config, options.listen))
        return COMMAND_MISUSED;
    arena_init(&arena);
    options.data = data_folder(config, &arena);
    process_catch_signals();
    status = stack_open(&options, &arena, &stack, &err);
    if (status == STATUS_OK) {
        describe_stack(&stack);
        invitation_print(&stack);
        status = watch(&stack, &err);
        stack_close(&stack);
    }
    arena_cleanup(&arena);
    return status == STATUS_OK ? COMMAND_OK : report_failure("dev run", &err);
}

/* ---- dev exec ---- */

#define EXEC_ARGUMENTS "[--with-server] [--with-worker] [--postgres NAME=VALUE]... -- COMMAND [ARGUMENT...]"

enum { FIXED_SETTINGS = 2, MAX_SETTINGS = ARGUMENTS_MAX_OPTIONS };

/* Run the command, and watch the parts of the stack meanwhile. Returns the command's exit code. */
static int run_command(struct stack *stack, char **argv)
{
    struct variable variables[] = {
        { "TAVOLA_POSTGRES", stack->postgres },
        { "TAVOLA_REDIS", stack->redis },
        { "TAVOLA_TARGET", stack->target },
    };
    size_t count = stack->target ? 3 : 2;
    struct process_plan plan = {
        .name = argv[0],
        .argv = argv,
        .environment = environment_with(variables, count, stack->arena),
        .foreground = true,
        .stop_timeout_ms = COMMAND_STOP_TIMEOUT_MS,
    };
    struct process command;
    struct error err = { 0 };

    if (process_start(&plan, &command, &err) != STATUS_OK)
        return report_failure("dev exec", &err);
    while (process_is_running(&command)) {
        int signal_number = process_wait(WATCH_MS);

        /* The terminal sends Ctrl-C to the command directly; the command decides how to react. */
        if (signal_number == SIGTERM || signal_number == SIGHUP)
            process_stop(&command);
        if (stack_check(stack, &err) != STATUS_OK) {
            process_stop(&command);
            return report_failure("dev exec", &err);
        }
    }
    return process_exit_code(&command);
}

/* Read the options, in front of "--". false: standard error says what is wrong. */
static bool read_exec_options(int argc, char **argv, struct stack_options *out,
    const char *settings[static FIXED_SETTINGS + MAX_SETTINGS])
{
    struct arguments arguments = { .command = "dev exec" };

    if (!command_arguments(EXEC_ARGUMENTS, 0, argc, argv, &arguments))
        return false;
    out->with_server = arguments_value(&arguments, "--with-server") != NULL;
    out->with_worker = arguments_value(&arguments, "--with-worker") != NULL;
    for (int i = 0; i < arguments.option_count; i++) {
        if (!str_equal(arguments.options[i].name, STR_LITERAL("--postgres")))
            continue;
        if (!strchr(arguments.options[i].value, '=')) {
            fprintf(stderr, "tavola dev exec: --postgres takes NAME=VALUE, not \"%s\"\n",
                arguments.options[i].value);
            return false;
        }
        settings[out->postgres_setting_count++] = arguments.options[i].value;
    }
    return true;
}

static int exec_command(const struct client_config *config, int argc, char **argv)
{
    const char *listen = getenv("TAVOLA_LISTEN");
    const char *settings[MAX_SETTINGS + FIXED_SETTINGS] = { "shared_buffers=64MB", "jit=off" };
    struct stack_options options = {
        .client = config,
        .postgres_settings = settings,
        .postgres_setting_count = FIXED_SETTINGS,
        .listen = listen && *listen ? listen : NULL,
    };
    struct error err = { 0 };
    struct arena arena;
    struct stack stack;
    int exit_code;
    int i = 0;

    while (i < argc && strcmp(argv[i], "--") != 0)
        i++;
    if (!read_exec_options(i, argv, &options, settings))
        return COMMAND_MISUSED;
    if (i + 1 >= argc)
        return command_misused("dev exec", EXEC_ARGUMENTS);
    arena_init(&arena);
    process_catch_signals();
    if (stack_open(&options, &arena, &stack, &err) == STATUS_OK) {
        exit_code = run_command(&stack, argv + i + 1);
        stack_close(&stack);
    } else {
        exit_code = report_failure("dev exec", &err);
    }
    arena_cleanup(&arena);
    return exit_code;
}

/* ---- dev status ---- */

static int show_status(const struct client_config *config, int argc, char **argv)
{
    char holder[HOLDER_BYTES];
    struct arena arena;
    struct arguments arguments = { .command = "dev status" };
    const char *data;
    bool running;

    if (!command_arguments("", 0, argc, argv, &arguments))
        return COMMAND_MISUSED;
    arena_init(&arena);
    data = data_folder(config, &arena);
    running = data_folder_read_holder(data, holder, sizeof(holder));
    printf("%s: %s\n%s", data, running ? "running" : "not running", running ? holder : "");
    arena_cleanup(&arena);
    return running ? COMMAND_OK : COMMAND_FAILED;
}

static const struct command commands[] = {
    {
        .words = "dev run",
        .arguments = "",
        .help =
            "start PostgreSQL, Redis, server and worker in the foreground; the data stays in TAVOLA_DEV_DATA",
        .run = run_stack,
    },
    {
        .words = "dev exec",
        .arguments = EXEC_ARGUMENTS,
        .help =
            "run a command beside a new stack, whose addresses are in TAVOLA_POSTGRES, TAVOLA_REDIS and "
            "TAVOLA_TARGET; its data is deleted at the end. --postgres is a setting of PostgreSQL, such as "
            "shared_buffers=1GB; those that are not given here are shared_buffers=64MB, jit=off and its "
            "defaults. "
            "The database is migrated for --with-server and --with-worker, else it is empty. "
            "INITDB_TEMPLATE names a stopped cluster with a database tavola: it is copied instead of "
            "running initdb",
        .run = exec_command,
    },
    {
        .words = "dev status",
        .arguments = "",
        .help = "whether a stack runs in TAVOLA_DEV_DATA, and where it answers; exit code 1 if not",
        .run = show_status,
    },
};

const struct command_group commands_dev = { "A private stack on this machine", commands,
    ARRAY_LEN(commands) };
