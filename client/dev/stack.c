/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.c - starts and stops the parts of a private stack in order. See stack.h.
 */
#include "client/dev/stack.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "client/dev/environment.h"
#include "client/dev/servers.h"
#include "client/health.h"
#include "store/connection/migrate.h"

enum {
    POLL_MS = 20,
    READY_WITHIN_MS = 60000,
    HEALTH_TIMEOUT_MS = 500,
    CLIENT_TIMEOUT_MS = 5000,
    DRAIN_STOP_TIMEOUT_MS = 40000,
};

PRINTF_LIKE(2, 3)
static void print_progress(const struct stack *stack, const char *format, ...)
{
    va_list args;

    if (!stack->options->talks)
        return;
    printf("dev: ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

static void say_migration(void *context, const char *line)
{
    print_progress(context, "schema: %s", line);
}

/* ---- waiting ---- */

enum status stack_check(struct stack *stack, struct error *err)
{
    for (size_t i = 0; i < STACK_PARTS; i++) {
        struct process *part = &stack->parts[i];
        char end[64];

        if (part->pid == 0 || process_is_running(part))
            continue;
        process_describe_end(part, end, sizeof(end));
        process_print_tail(part, stderr);
        return error_set(err, STATUS_UNAVAILABLE, "%s %s", part->name, end);
    }
    return STATUS_OK;
}

static bool postgres_answers(struct stack *stack)
{
    return servers_postgres_is_ready(&stack->folder, &stack->parts[STACK_POSTGRES]);
}

static bool redis_answers(struct stack *stack)
{
    return servers_redis_is_ready(&stack->folder);
}

/*
 * Ask for the server's health in plain text, whatever its address uses, so that no certificate has to name
 * this machine.
 */
static bool server_serves(struct stack *stack)
{
    struct client_config client = { .target = stack->health };

    return servers_is_taken(stack->health) && health_check(&client, HEALTH_TIMEOUT_MS, NULL) == STATUS_OK;
}

static enum status wait_until(
    struct stack *stack, enum stack_part part, bool (*ready)(struct stack *stack), struct error *err)
{
    int64_t deadline = clock_monotonic_us() + READY_WITHIN_MS * INT64_C(1000);

    while (!ready(stack)) {
        int signal_number = process_wait(POLL_MS);

        if (signal_number != 0 && signal_number != SIGCHLD)
            return error_set(err, STATUS_CANCELLED, "stopped while starting");
        TRY(stack_check(stack, err));
        if (clock_monotonic_us() > deadline) {
            process_print_tail(&stack->parts[part], stderr);
            return error_set(err, STATUS_UNAVAILABLE, "%s is not ready after %d seconds",
                stack->parts[part].name, READY_WITHIN_MS / 1000);
        }
    }
    return STATUS_OK;
}

/* ---- starting ---- */

/* Keep the logs of the previous run; remove older ones. */
static void rotate_logs(const struct stack *stack)
{
    static const char *const names[] = { "postgres", "redis", "tavolad", "tavola-worker" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *log = arena_format(stack->arena, "%s/%s.log", stack->folder.log, names[i]).data;

        rename(log, arena_format(stack->arena, "%s.old", log).data);
    }
}

static enum status start_postgres(struct stack *stack, struct error *err)
{
    struct postgres_options options = {
        .settings = stack->options->postgres_settings,
        .setting_count = stack->options->postgres_setting_count,
        .sync_first = !stack->folder.temporary,
    };

    TRY(servers_prepare_postgres(&stack->folder, &options, stack->arena, err));
    TRY(servers_start_postgres(&stack->folder, &options, stack->arena, &stack->parts[STACK_POSTGRES], err));
    TRY(wait_until(stack, STACK_POSTGRES, postgres_answers, err));
    stack->postgres = servers_postgres_address(&stack->folder, stack->arena);
    print_progress(stack, "PostgreSQL is ready: psql '%s'", stack->postgres);
    return STATUS_OK;
}

static enum status start_redis(struct stack *stack, struct error *err)
{
    TRY(servers_start_redis(&stack->folder, stack->arena, &stack->parts[STACK_REDIS], err));
    TRY(wait_until(stack, STACK_REDIS, redis_answers, err));
    stack->redis = servers_redis_address(&stack->folder, stack->arena);
    print_progress(stack, "Redis is ready: redis-cli -s %s", stack->redis + strlen("unix:"));
    return STATUS_OK;
}

static enum status start_program(
    struct stack *stack, const char *name, const char *path, enum stack_part part, struct error *err)
{
    struct variable variables[] = {
        { "TAVOLA_POSTGRES", stack->postgres },
        { "TAVOLA_REDIS", stack->redis },
        { "TAVOLA_LISTEN", stack->target ? stack->target : "" },
        { "TAVOLA_HTTP_LISTEN", stack->http ? stack->http : "" },
        { "TAVOLA_AUTHENTICATION", stack->authentication },
        { "TAVOLA_HEALTH_LISTEN", stack->health },
    };
    /*
     * If the server's own address is plain text, it answers about health too, and cannot be listened on a
     * second time.
     */
    size_t count = ARRAY_LEN(variables) - (stack->transport == TRANSPORT_PLAIN ? 1 : 0);
    char *argv[] = { (char *)path, NULL };
    struct process_plan plan = {
        .name = name,
        .argv = argv,
        .environment = environment_for(true, variables, count, stack->arena),
        .log = arena_format(stack->arena, "%s/%s.log", stack->folder.log, name).data,
        .stop_timeout_ms = DRAIN_STOP_TIMEOUT_MS,
    };

    return process_start(&plan, &stack->parts[part], err);
}

static const char *setting_or(const char *name, const char *fallback)
{
    const char *value = getenv(name);

    return value && *value ? value : fallback;
}

static enum transport chosen_transport(void)
{
    if (!setting_or("TAVOLA_TLS_CERT", NULL))
        return TRANSPORT_PLAIN;
    return setting_or("TAVOLA_TLS_CLIENT_CA", NULL) ? TRANSPORT_MUTUAL_TLS : TRANSPORT_TLS;
}

static const char *choose_health(const struct stack *stack)
{
    if (stack->transport == TRANSPORT_PLAIN)
        return stack->target;
    return setting_or(
        "TAVOLA_HEALTH_LISTEN", arena_format(stack->arena, "unix:%s/health", stack->folder.run).data);
}

static enum status refuse_taken(const char *setting, const char *address, struct error *err)
{
    return error_set(err, STATUS_UNAVAILABLE,
        "another program serves on %s already: set %s to another address", address, setting);
}

/* Choose the HTTP address. The default address is used only if no other program uses it. */
static enum status choose_http(struct stack *stack, struct error *err)
{
    const char *usual = stack->options->http_listen, *set = setting_or("TAVOLA_HTTP_LISTEN", NULL);

    stack->http = set;
    if (set && servers_is_taken(set))
        return refuse_taken("TAVOLA_HTTP_LISTEN", set, err);
    if (set || !usual || stack->transport != TRANSPORT_PLAIN || strcmp(stack->authentication, "none") != 0)
        return STATUS_OK;
    if (!servers_is_taken(usual))
        stack->http = usual;
    else
        print_progress(stack,
            "nothing over HTTP: another program serves on %s, and TAVOLA_HTTP_LISTEN is not set", usual);
    return STATUS_OK;
}

/*
 * Check the address before anything is started: otherwise the other parts would be started only to be
 * stopped.
 */
static enum status choose_target(struct stack *stack, struct error *err)
{
    stack->authentication = setting_or("TAVOLA_AUTHENTICATION", "none");
    stack->target = stack->options->listen
                        ? stack->options->listen
                        : arena_format(stack->arena, "unix:%s/tavolad", stack->folder.run).data;
    stack->transport = chosen_transport();
    stack->health = choose_health(stack);
    if (servers_is_taken(stack->target))
        return refuse_taken("TAVOLA_LISTEN", stack->target, err);
    return choose_http(stack, err);
}

/* Check the client settings. If they do not fit the server, print it; the stack runs nevertheless. */
static void try_client_settings(const struct stack *stack)
{
    struct client_config client = *stack->options->client;
    struct error err = { 0 };

    if (stack->transport == TRANSPORT_PLAIN || !client.ca)
        return;
    client.target = stack->target;
    client.token = client.token_file = NULL;
    if (health_check(&client, CLIENT_TIMEOUT_MS, &err) != STATUS_OK)
        print_progress(stack,
            "tavolad serves, but not to the settings TAVOLA_CA, TAVOLA_CLIENT_CERT and TAVOLA_CLIENT_KEY: %s",
            err.message);
}

static enum status start_server(struct stack *stack, struct error *err)
{
    TRY(start_program(stack, "tavolad", stack->server_path, STACK_SERVER, err));
    TRY(wait_until(stack, STACK_SERVER, server_serves, err));
    print_progress(stack, "tavolad is ready on %s", stack->target);
    try_client_settings(stack);
    return STATUS_OK;
}

static enum status find_own_programs(struct stack *stack, struct error *err)
{
    TRY(environment_find_program("tavolad", stack->arena, &stack->server_path, err));
    return environment_find_program("tavola-worker", stack->arena, &stack->worker_path, err);
}

static enum status start_parts(struct stack *stack, struct error *err)
{
    const struct stack_options *options = stack->options;

    if (options->with_server)
        TRY(choose_target(stack, err));
    rotate_logs(stack);
    TRY(start_postgres(stack, err));
    TRY(start_redis(stack, err));
    if (options->with_server || options->with_worker)
        TRY(migrate_run(stack->postgres, say_migration, stack, err));
    if (options->with_server)
        TRY(start_server(stack, err));
    if (options->with_worker) {
        TRY(start_program(stack, "tavola-worker", stack->worker_path, STACK_WORKER, err));
        print_progress(stack, "tavola-worker has started");
    }
    return STATUS_OK;
}

enum status stack_open(
    const struct stack_options *options, struct arena *arena, struct stack *out, struct error *err)
{
    enum status status;

    *out = (struct stack){ .options = options, .arena = arena };
    if (options->with_server || options->with_worker)
        TRY(find_own_programs(out, err));
    TRY(data_folder_open(options->data, arena, &out->folder, err));
    print_progress(out, "data and logs are in %s", out->folder.data);
    status = start_parts(out, err);
    if (status != STATUS_OK)
        stack_close(out);
    return status;
}

void stack_close(struct stack *stack)
{
    for (size_t i = STACK_PARTS; i > 0; i--) {
        struct process *part = &stack->parts[i - 1];

        if (!process_is_running(part))
            continue;
        process_stop(part);
        print_progress(stack, "%s has stopped", part->name);
    }
    data_folder_close(&stack->folder);
}
