/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - tavolad: starts the parts in order, waits for a signal, stops them in the reverse order.
 *
 * Neither PostgreSQL nor Redis must be reachable at the start: the store and the publisher connect when they
 * can, and log each change once.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/local_address.h"
#include "base/log.h"
#include "chunks/chunk_open.h"
#include "domain/limits.h"
#include "http/metrics_server.h"
#include "rpc/coalesce.h"
#include "service/admission/memory_guard.h"
#include "service/connect/connect_door.h"
#include "service/http/http_call.h"
#include "service/methods.h"
#include "service/odata/odata_door.h"
#include "service/page/page_door.h"
#include "service/probes/backlog.h"
#include "service/probes/health_door.h"
#include "service/probes/listener_probe.h"
#include "service/probes/metrics.h"
#include "service/probes/schema_door.h"
#include "service/probes/server_history.h"
#include "service/publisher.h"
#include "service/sampling/sampling.h"
#include "service/service.h"
#include "service/service_config.h"
#include "store/access/wrapping_source.h"

enum {
    EXIT_BAD_SETTING = 2,
    /* descriptors that the program needs beside callers' connections: its own files, and probes */
    OWN_FILES = 64 + 256,
    FEW_FILES = 1024,             /* fewer for callers' connections are worth a finding of `tavola doctor` */
    BATCH_BYTES = 1024 * 1024,    /* the bound of the properties that one transaction writes */
    MAX_QUEUED_MESSAGES = 100000, /* the bound of a stream's length */
    MS_PER_SECOND = 1000,
    US_PER_MS = 1000,
    PROBE_CONNECTIONS = 256, /* the bound of connections to the probes' own address */
    ADDRESS_BYTES = 300,
};

/* The doors over HTTP, in the order in which they are asked to recognise a request. NULL ends the list. */
static const struct http_door *const http_doors[] = { &health_door, &schema_door, &page_door, &connect_door,
    &odata_door, NULL };

struct server {
    struct service service;
    struct publisher *publisher;
    struct chunk_stores chunks;    /* of blobs */
    struct remembered *remembered; /* the history of the database, as an earlier run has stored it */
    struct rpc_server *rpc;
    struct rpc_server *probes; /* NULL: probes have no address of their own */
    struct http_server *http;  /* NULL: no listener for HTTP */
    struct http_call_host http_calls;
    struct rpc_limits limits; /* the limits of both addresses */
    struct memory_bound memory;
    struct memory_guard *guard;
    struct listener_probe *listener;
    long long files; /* descriptors for callers' connections; 0: not known */
    struct metrics_sources sources;
    struct server_history history;
    atomic_bool is_started;         /* all parts have started */
    struct metrics_server *metrics; /* NULL: no listener for metrics */
    struct arena arena;
    struct wrapping_keys wrapping_keys;
    atomic_bool refused; /* the server stops because it cannot decrypt the keys of accounts */
};

static void intents_committed(void *context, const struct intent *intents, size_t count)
{
    struct server *server = context;

    FAILPOINT("server.after_commit_before_publish");
    publisher_push(server->publisher, intents, count);
}

static void availability_changed(void *context, bool available, const char *why)
{
    struct server *server = context;

    if (available)
        log_event(LOG_INFO, "database", log_text("database", "available"));
    else
        log_event(LOG_WARN, "database", log_text("database", "unavailable"), log_text("why", why));
    health_set_available(&server->service.health, available);
}

static void access_confirmed(void *context, struct access_snapshot *snapshot)
{
    struct server *server = context;

    authenticator_confirm(&server->service.authenticator, snapshot);
    authenticator_look_at_bearers(&server->service.authenticator);
    sampling_tick(&server->service);
    if (atomic_load(&server->is_started) &&
        server_history_tick(&server->history, &server->sources, clock_monotonic_us()))
        backlog_read(&server->service);
}

static void access_looked(void *context, int64_t began_us)
{
    struct server *server = context;

    recheck_resume(&server->service.recheck, began_us);
}

static void queues_mapped(void *context, const struct queue_map *map)
{
    struct server *server = context;

    publisher_set_shards(server->publisher, map->queues);
    if (atomic_exchange(&server->service.queues, map->queues) != map->queues)
        log_event(
            LOG_INFO, "queues", log_number("queues", map->queues), log_number("map_version", map->version));
}

static enum status cannot_start(const char *setting, const char *value, const struct error *err)
{
    log_event(LOG_ERROR, "cannot_start", log_text("setting", setting), log_text("value", value),
        log_text("why", err->message));
    return err->status;
}

static enum status start_publisher(
    struct server *server, const struct service_config *config, struct error *err)
{
    const struct queue_options options = {
        .redis = config->redis,
        .shards = DEFAULT_QUEUES,
        .max_messages = MAX_QUEUED_MESSAGES,
    };

    if (publisher_start(&options, server->remembered, &server->publisher, err) == STATUS_OK)
        return STATUS_OK;
    return cannot_start("TAVOLA_REDIS", "(hidden)", err);
}

static enum status start_tracing(
    struct server *server, const struct service_config *config, struct error *err)
{
    struct tracing *tracing = &server->service.tracing;

    tracing->per_million = config->traces_per_million;
    tracing->rates = server->service.rates;
    if (tracing_start(tracing, &config->trace, config->listen, err) == STATUS_OK)
        return STATUS_OK;
    return cannot_start("TAVOLA_OTLP_ENDPOINT", trace_settings_endpoint(&config->trace), err);
}

static struct quotas quotas_of(const struct service_config *config)
{
    return (struct quotas){ .tables = (int32_t)config->account_tables,
        .indexes = (int32_t)config->account_indexes,
        .entities = config->account_entities,
        .bytes = config->account_bytes };
}

/* Called in the monitor's thread. The main thread then stops the server. */
static void refuse_wrapping_keys(void *context, const char *why)
{
    struct server *server = context;

    log_event(LOG_ERROR, "cannot_start", log_text("setting", "TAVOLA_WRAPPING_KEY"), log_text("why", why));
    atomic_store(&server->refused, true);
    kill(getpid(), SIGTERM);
}

static void start_store(struct server *server, const struct service_config *config)
{
    const struct store_options options = {
        .postgres = config->postgres,
        .allow_data_loss = config->allow_data_loss != 0,
        .remembered = server->remembered,
        .read_threads = (int)config->read_threads,
        .write_threads = (int)config->write_threads,
        .page_threads = (int)config->page_threads,
        .max_waiting = (int)config->max_waiting,
        .snapshot_seconds = (int)config->snapshot_seconds,
        .max_snapshots = (int)config->max_snapshots,
        .batch_operations = (int)config->batch_operations,
        .batch_bytes = BATCH_BYTES,
        .quotas = quotas_of(config),
        .chunks = chunk_open_used(&server->chunks),
        .blob_threads = (int)config->blob_threads,
        .wrapping_keys = server->wrapping_keys,
        .accounts_unreadable = refuse_wrapping_keys,
        .intents_committed = intents_committed,
        .context = server,
        .answering = config->coalesce_replies ? coalesce_replies : NULL,
        .access_confirmed = access_confirmed,
        .access_looked = access_looked,
        .queues_mapped = queues_mapped,
        .availability_changed = availability_changed,
    };

    atomic_init(&server->service.queues, DEFAULT_QUEUES);
    server->service.store = store_open(&options);
}

/* The limits of one address: both addresses use descriptors. */
static struct rpc_limits limits_for(const struct server *server, const struct service_config *config)
{
    struct rpc_limits limits = { .connections = (int)config->max_connections,
        .connections_per_address = (int)config->connections_per_address,
        .first_call_ms = config->first_call_seconds * MS_PER_SECOND };

    memory_bound_set_limits(
        &server->memory, config->http_listen ? server->files / 2 : server->files, &limits);
    return limits;
}

static enum status start_rpc(struct server *server, const struct service_config *config, struct error *err)
{
    const struct rpc_server_tls tls = { config->tls_certificate, config->tls_key, config->tls_client_ca };
    struct rpc_options options = {
        .listen = config->listen,
        .threads = (int)config->rpc_threads,
        .helps = true,
        .receive_bytes = LIMIT_RECEIVE_BYTES,
        .tls = config->tls_certificate ? &tls : NULL,
        .methods = methods_for_rpc(&server->arena),
        .method_count = method_count,
        .events = methods_events,
        .context = &server->service,
    };

    server->limits = options.limits = limits_for(server, config);
    log_event(LOG_INFO, "limits", log_number("memory_bytes", server->memory.bytes),
        log_text("from", memory_bound_source_name(server->memory.source)),
        log_number("max_connections", options.limits.connections),
        log_number("per_address", options.limits.connections_per_address));
    if (rpc_server_start(&options, &server->rpc, err) != STATUS_OK)
        return cannot_start("TAVOLA_LISTEN", config->listen, err);
    server->listener = listener_probe_start(
        config->listen, rpc_server_port(server->rpc), LISTENER_PROBE_PERIOD_MS, &server->service.health);
    return STATUS_OK;
}

static enum status start_http(struct server *server, const struct service_config *config, struct error *err)
{
    const struct http_tls tls = { config->tls_certificate, config->tls_key, config->tls_client_ca };
    const struct http_options options = {
        .listen = config->http_listen,
        .tls = config->tls_certificate ? &tls : NULL,
        .name = "http",
        .limits = { .connections = server->limits.connections,
            .connections_per_address = server->limits.connections_per_address,
            .body_bytes = LIMIT_RECEIVE_BYTES,
            .first_request_ms = server->limits.first_call_ms },
        .events = http_call_events,
        .context = &server->http_calls,
    };

    if (!config->http_listen)
        return STATUS_OK;
    server->service.cors = (struct cors){ .origins = config->http_origins,
        .allows_local = local_address_is(config->http_listen),
        .checks_host = config->authentication == AUTHENTICATION_NONE &&
                       strncmp(config->http_listen, "unix:", strlen("unix:")) != 0 };
    http_call_host_init(&server->http_calls, &server->service, &server->arena);
    if (http_server_start(&options, &server->http, err) == STATUS_OK)
        return STATUS_OK;
    return cannot_start("TAVOLA_HTTP_LISTEN", config->http_listen, err);
}

static enum status start_probes(struct server *server, const struct service_config *config, struct error *err)
{
    struct rpc_options options = {
        .listen = config->health_listen,
        .threads = 1,
        .receive_bytes = LIMIT_HEALTH_RECEIVE_BYTES,
        .events = methods_events,
        .context = &server->service,
    };

    if (!config->health_listen)
        return STATUS_OK;
    memory_bound_set_limits(&server->memory, PROBE_CONNECTIONS, &options.limits);
    options.methods = methods_for_health(&server->arena, &options.method_count);
    if (rpc_server_start(&options, &server->probes, err) == STATUS_OK)
        return STATUS_OK;
    return cannot_start("TAVOLA_HEALTH_LISTEN", config->health_listen, err);
}

static enum status start_metrics(
    struct server *server, const struct service_config *config, struct error *err)
{
    server->sources = (struct metrics_sources){ &server->service, server->publisher, server->rpc,
        server->http, server->memory.bytes };
    if (!config->metrics_listen || metrics_server_start(config->metrics_listen, metrics_collect,
                                       &server->sources, &server->metrics, err) == STATUS_OK)
        return STATUS_OK;
    return cannot_start("TAVOLA_METRICS_LISTEN", config->metrics_listen, err);
}

/* Stop the parts that observe the server. */
static void stop_watchers(struct server *server)
{
    listener_probe_stop(server->listener);
    memory_guard_stop(server->guard);
    server_history_end(&server->history);
    server->listener = NULL;
    server->guard = NULL;
}

static void stop(struct server *server)
{
    metrics_server_stop(server->metrics);
    stop_watchers(server);
    http_server_stop(server->http, 0);
    if (server->rpc) /* a later part of the start has failed: calls may be open */
        rpc_server_stop(server->rpc, 0);
    if (server->probes)
        rpc_server_stop(server->probes, 0);
    if (server->service.store)
        store_close(server->service.store);
    chunk_open_close(&server->chunks);
    publisher_stop(server->publisher);
    tracing_stop(&server->service.tracing);
    remembered_free(server->remembered);
    counters_free(server->service.calls);
    counters_free(server->service.http_requests);
    server_history_cleanup(&server->history);
    rates_free(server->service.rates);
    sampler_cleanup(&server->service.sampler);
    slowest_calls_cleanup(&server->service.slowest);
    advisor_cleanup(&server->service.advisor);
    memory_shares_cleanup(&server->service.memory);
    recheck_cleanup(&server->service.recheck);
    audit_log_cleanup(&server->service.audit_log);
    authenticator_cleanup(&server->service.authenticator);
    arena_cleanup(&server->arena);
}

static enum status open_bearers(struct server *server, const struct service_config *config, struct error *err)
{
    const struct bearer_options options = {
        .keys_path = config->jwt_keys,
        .issuer = config->jwt_issuer,
        .audience = config->jwt_audience,
        .signatures = config->jwt_signatures,
        .is_local = local_address_is(config->listen) &&
                    (!config->http_listen || local_address_is(config->http_listen)),
    };

    return bearer_authority_open(&options, &server->service.authenticator.bearers, err);
}

/* What settings name and a server does not start without. */
static enum status read_keys(struct server *server, const struct service_config *config, struct error *err)
{
    authenticator_init(&server->service.authenticator, config->authentication == AUTHENTICATION_NONE);
    TRY(chunk_open(&config->chunks, &server->chunks, err));
    TRY(wrapping_source_read(config->wrapping_key, config->wrapping_key_file, &server->wrapping_keys, err));
    return open_bearers(server, config, err);
}

static enum status start(struct server *server, const struct service_config *config, struct error *err)
{
    health_init(&server->service.health);
    server->service.health.has_few_files = server->files < FEW_FILES;
    server->service.authenticator.quotas = quotas_of(config);
    recheck_init(&server->service.recheck);
    audit_log_init(&server->service.audit_log);
    memory_shares_init(&server->service.memory, server->memory.bytes);
    server->service.speaks_tls = config->tls_certificate != NULL;
    atomic_init(&server->service.draining, false);
    arena_init(&server->arena);
    server->service.odata = (struct odata_settings){ config->azure_version, config->azure_request_ids != 0 };
    server->service.doors = http_doors;
    while (http_doors[server->service.door_count])
        server->service.door_count++;
    server->service.calls = metrics_calls_new(&server->service);
    server->service.http_requests = counters_new(server->service.door_count + 1);
    server_history_init(&server->history);
    server->service.history = &server->history;
    server->service.memory_limit_bytes = server->memory.bytes;
    slowest_calls_init(&server->service.slowest);
    sampler_init(&server->service.sampler);
    advisor_init(&server->service.advisor);
    server->service.rates = rates_new(&config->rates);
    server->service.takes_files = config->file_root != NULL;
    server->service.http_call_hosts = config->http_call_hosts;
    server->service.slow_call_us = config->slow_call_ms * US_PER_MS;
    TRY(start_tracing(server, config, err));
    server->remembered = remembered_new();
    TRY(start_publisher(server, config, err));
    start_store(server, config);
    TRY(start_probes(server, config, err));
    TRY(start_rpc(server, config, err));
    TRY(start_http(server, config, err));
    server->guard = memory_guard_start(&server->memory, server->rpc, server->http);
    TRY(start_metrics(server, config, err));
    atomic_store(&server->is_started, true);
    return STATUS_OK;
}

/*
 * Raise the limit of open files as far as allowed. Returns the descriptors that are left for callers'
 * connections.
 */
static long long raise_file_limit(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return 0;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur <= OWN_FILES)
        return 0;
    return (long long)files.rlim_cur - OWN_FILES;
}

static void say_ready(const struct server *server, const struct service_config *config)
{
    int port = rpc_server_port(server->rpc);
    char address[ADDRESS_BYTES];

    if (port > 0)
        snprintf(address, sizeof(address), "%.*s:%d", (int)(strrchr(config->listen, ':') - config->listen),
            config->listen, port);
    else
        snprintf(address, sizeof(address), "%s", config->listen);
    log_announce("listening", (const struct log_field[]){ log_text("address", address), { 0 } });
}

static void serve_until_signal(
    struct server *server, const struct service_config *config, const sigset_t *signals)
{
    int signal;

    say_ready(server, config);
    while (sigwait(signals, &signal) != 0 || log_settings_take_signal(&config->log, signal))
        continue;
    log_event(LOG_INFO, "stopping", log_number("drain_s", config->drain_seconds));
    atomic_store(&server->service.draining, true);
    health_drain(&server->service.health);
    store_drain(server->service.store);
    metrics_server_stop(server->metrics); /* it reads the parts that are stopped next */
    server->metrics = NULL;
    stop_watchers(server);
    http_server_drain(server->http, config->drain_seconds * MS_PER_SECOND);
    rpc_server_stop(server->rpc, config->drain_seconds * MS_PER_SECOND);
    server->rpc = NULL;
}

/*
 * Without authentication, every client that reaches the address may do everything. NULL: there is no such
 * address.
 */
static bool address_is_allowed(
    const struct service_config *config, const char *setting, const char *listen_address)
{
    if (!listen_address || config->authentication != AUTHENTICATION_NONE || local_address_is(listen_address))
        return true;
    fprintf(stderr,
        "tavolad: %s is %s, but with TAVOLA_AUTHENTICATION=none only loopback addresses "
        "(127.0.0.1:port, [::1]:port, localhost:port) and unix:/path are allowed\n",
        setting, listen_address);
    return false;
}

static bool addresses_are_allowed(const struct service_config *config)
{
    return address_is_allowed(config, "TAVOLA_LISTEN", config->listen) &&
           address_is_allowed(config, "TAVOLA_HTTP_LISTEN", config->http_listen);
}

/*
 * If only some of the TLS files were set, the server would speak plain text, or accept callers without
 * certificates, against the operator's intention.
 */
static bool tls_is_whole(const struct service_config *config)
{
    bool is_whole = !config->tls_certificate == !config->tls_key;

    if (is_whole && (config->tls_certificate || !config->tls_client_ca))
        return true;
    fprintf(stderr, "tavolad: TAVOLA_TLS_CERT and TAVOLA_TLS_KEY are set together or not at all, and "
                    "TAVOLA_TLS_CLIENT_CA only with them\n");
    return false;
}

static void warn_of_plain_text(
    const struct service_config *config, const char *setting, const char *listen_address)
{
    if (!listen_address || config->tls_certificate || local_address_is(listen_address))
        return;
    log_event(LOG_WARN, "plain_text", log_text("setting", setting),
        log_text("why",
            "it is served beyond this machine, and tokens can be read on the way: set TAVOLA_TLS_CERT "
            "and TAVOLA_TLS_KEY"));
}

int main(int argc, char **argv)
{
    struct service_config config;
    struct server *server;
    struct error err = { 0 };
    sigset_t signals;
    int exit_code;

    memory_keep();
    if (!config_start(&service_program, argc, argv, &config, &exit_code))
        return exit_code;
    if (!tls_is_whole(&config) || !addresses_are_allowed(&config))
        return EXIT_BAD_SETTING;
    log_settings_apply(&config.log, service_program.name);
    warn_of_plain_text(&config, "TAVOLA_LISTEN", config.listen);
    warn_of_plain_text(&config, "TAVOLA_HTTP_LISTEN", config.http_listen);
    if (config.allow_data_loss)
        log_event(LOG_WARN, "data_loss_allowed", log_text("setting", "TAVOLA_ALLOW_DATA_LOSS"),
            log_text("why", "settings of the database that may lose acknowledged writes are not refused"));
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    log_settings_add_signals(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);

    server = xcalloc(1, sizeof(*server));
    server->files = raise_file_limit();
    server->memory = memory_bound_find(config.memory_limit);
    exit_code = EXIT_FAILURE;
    if (read_keys(server, &config, &err) != STATUS_OK) {
        fprintf(stderr, "tavolad: %s\n", err.message);
        authenticator_cleanup(&server->service.authenticator);
        free(server);
        return EXIT_BAD_SETTING;
    }
    if (start(server, &config, &err) == STATUS_OK) {
        serve_until_signal(server, &config, &signals);
        exit_code = atomic_load(&server->refused) ? EXIT_BAD_SETTING : EXIT_SUCCESS;
    }
    stop(server);
    free(server);
    return exit_code;
}
