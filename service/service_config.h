/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_config.h - the settings of tavolad.
 */
#ifndef SERVICE_SERVICE_CONFIG_H
#define SERVICE_SERVICE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/chunk_settings.h"
#include "base/config.h"
#include "base/failpoint.h"
#include "base/log_settings.h"
#include "base/trace_settings.h"
#include "queue/redis_url.h"
#include "service/admission/rates.h"

/* As in the table of settings. */
enum authentication { AUTHENTICATION_REQUIRED, AUTHENTICATION_NONE };

struct service_config {
    const char *listen;
    const char *http_listen;     /* NULL: no listener for HTTP */
    const char *azure_version;   /* x-ms-version of replies to requests without a version */
    int azure_request_ids;       /* 0 or 1 */
    const char *http_origins;    /* NULL: see service/connect/cors.h */
    const char *health_listen;   /* NULL: probes use the address of the server */
    const char *metrics_listen;  /* NULL: no listener for metrics */
    const char *tls_certificate; /* NULL: plain text */
    const char *tls_key;
    const char *tls_client_ca;                        /* NULL: callers need no certificate */
    int authentication;                               /* enum authentication */
    const char *jwt_keys, *jwt_issuer, *jwt_audience; /* NULL: not set */
    int jwt_signatures;                               /* enum bearer_signatures */
    const char *wrapping_key, *wrapping_key_file;     /* NULL: not set */
    const char *postgres;
    int allow_data_loss; /* 0 or 1 */
    struct redis_access redis;
    int64_t rpc_threads;
    int64_t read_threads;
    int64_t write_threads;
    int64_t page_threads;
    int64_t max_waiting;
    int64_t snapshot_seconds, max_snapshots; /* of scans */
    const char *memory_limit;                /* NULL: see memory_bound_find */
    int64_t max_connections; /* 0: what the memory limit allows; the same for the next member */
    int64_t connections_per_address;
    int64_t first_call_seconds;
    struct rate_limits rates;
    int64_t account_tables, account_indexes; /* bounds of one account */
    int64_t account_entities, account_bytes; /* 0: not bounded */
    struct chunk_settings chunks;
    int64_t blob_threads;
    const char *file_root;       /* NULL: no steps write files */
    const char *http_call_hosts; /* NULL: no steps call */
    int64_t batch_operations;
    int coalesce_replies; /* 0 or 1 */
    int64_t drain_seconds;
    int64_t slow_call_ms; /* 0: no call is slow */
    int64_t traces_per_million;
    struct trace_settings trace;
    struct log_settings log;
    FAILPOINT_FIELDS
};

extern const struct config_program service_program;

#endif
