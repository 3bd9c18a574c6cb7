/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - the settings of tavola-worker.
 */
#ifndef WORKERS_CONFIG_H
#define WORKERS_CONFIG_H

#include <stdint.h>

#include "base/chunk_settings.h"
#include "base/config.h"
#include "base/failpoint.h"
#include "base/log_settings.h"
#include "base/trace_settings.h"
#include "queue/redis_url.h"

struct worker_config {
    const char *postgres;
    int allow_data_loss; /* 0 or 1 */
    struct redis_access redis;
    const char *name;
    const char *metrics_listen; /* NULL: none */
    const char *health_listen;  /* NULL: none */
    int64_t threads;
    int64_t claim_batch;
    int64_t visibility_s;
    int64_t drain_s;
    int64_t sweep_s;
    int64_t audit_retention_s;
    int64_t scrub_share; /* percent of one connection's time; 0: off */
    int64_t usage_share; /* as scrub_share */
    int64_t usage_interval_s;
    int64_t request_retention_s;
    int64_t change_retention_s;
    struct chunk_settings chunks;
    int64_t chunk_retention_s;
    const char *scaler_listen;   /* NULL: none */
    const char *file_root;       /* NULL: no steps write files */
    const char *http_call_hosts; /* NULL: no steps call */
    const char *http_call_ca;
    int64_t http_call_timeout_s;
    struct trace_settings trace;
    struct log_settings log;
    FAILPOINT_FIELDS
};

extern const struct config_program worker_program;

#endif
