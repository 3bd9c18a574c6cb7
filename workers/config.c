/*
 * config.c - one row per setting.
 */
#include "workers/config.h"

#include <stddef.h>

#include "queue/redis_url.h"

#define FIELD(name) offsetof(struct worker_config, name)

static const char *const log_levels[] = { "debug", "info", "warn", "error", NULL };

static bool is_redis_url(const char *value)
{
    struct arena arena;
    struct redis_url url;
    bool valid;

    arena_init(&arena);
    valid = redis_url_parse(value, &arena, &url, NULL) == STATUS_OK;
    arena_cleanup(&arena);
    return valid;
}

static const struct config_setting settings[] = { { .name = "TAVOLA_POSTGRES",
                                                      .type = CONFIG_SECRET,
                                                      .offset = FIELD(postgres),
                                                      .required = true,
                                                      .help = "libpq connection string of the database" },
    { .name = "TAVOLA_REDIS",
        .type = CONFIG_SECRET,
        .offset = FIELD(redis),
        .required = true,
        .accepts = is_redis_url,
        .allowed = "redis://[user:password@]host:port[/db] or unix:/path",
        .help = "address of Redis; while it is down workers poll the database" },
    { .name = "TAVOLA_QUEUE_SHARDS",
        .type = CONFIG_INT,
        .offset = FIELD(queue_shards),
        .fallback = "4",
        .min = 1,
        .max = 64,
        .help = "streams in Redis; the same for servers and workers" },
    { .name = "TAVOLA_WORKER_THREADS",
        .type = CONFIG_INT,
        .offset = FIELD(threads),
        .fallback = "2",
        .min = 1,
        .max = 64,
        .help = "consumers, each with connections of its own" },
    { .name = "TAVOLA_CLAIM_BATCH",
        .type = CONFIG_INT,
        .offset = FIELD(claim_batch),
        .fallback = "64",
        .min = 1,
        .max = 1024,
        .help = "messages a consumer takes at once" },
    { .name = "TAVOLA_VISIBILITY_SECONDS",
        .type = CONFIG_INT,
        .offset = FIELD(visibility_s),
        .fallback = "30",
        .min = 1,
        .max = 3600,
        .unit = "s",
        .help = "after this long without an answer a claimed message is given to another worker" },
    { .name = "TAVOLA_DRAIN_SECONDS",
        .type = CONFIG_INT,
        .offset = FIELD(drain_s),
        .fallback = "20",
        .min = 1,
        .max = 600,
        .unit = "s",
        .help = "how long stopping may take before the process ends anyway" },
    { .name = "TAVOLA_SWEEP_SECONDS",
        .type = CONFIG_INT,
        .offset = FIELD(sweep_s),
        .fallback = "60",
        .min = 1,
        .max = 86400,
        .unit = "s",
        .help = "time between rounds of purging" },
    { .name = "TAVOLA_REQUEST_RETENTION_SECONDS",
        .type = CONFIG_INT,
        .offset = FIELD(request_retention_s),
        .fallback = "86400",
        .min = 60,
        .max = 2592000,
        .unit = "s",
        .help = "how long writes with a request_id are remembered, at least; the same for all workers" },
    { .name = "TAVOLA_WORKER_NAME",
        .type = CONFIG_STRING,
        .offset = FIELD(name),
        .help = "this worker's name in leases, consumers and timelines; host and process id when not set" },
    { .name = "TAVOLA_WORKER_METRICS_LISTEN",
        .type = CONFIG_STRING,
        .offset = FIELD(metrics_listen),
        .accepts = config_is_address,
        .allowed = CONFIG_ADDRESS_ALLOWED,
        .help = "an address that answers GET /metrics over HTTP, for Prometheus" },
    { .name = "TAVOLA_LOG_LEVEL",
        .type = CONFIG_CHOICE,
        .offset = FIELD(log_level),
        .fallback = "info",
        .choices = log_levels,
        .help = "the least that is logged" },
    FAILPOINT_SETTINGS(struct worker_config) };

const struct config_program worker_program = {
    .name = "tavola-worker",
    .version = TAVOLA_VERSION,
    .summary = "keeps indexes and transactions of Tavola up with its writes",
    .settings = settings,
    .count = sizeof(settings) / sizeof(settings[0]),
};
