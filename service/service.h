/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.h - the parts of the server that calls use.
 */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/metrics.h"
#include "service/admission/audit_log.h"
#include "service/admission/authenticator.h"
#include "service/admission/memory_shares.h"
#include "service/admission/rates.h"
#include "service/admission/recheck.h"
#include "service/connect/cors.h"
#include "service/probes/health.h"
#include "service/sampling/advisor.h"
#include "service/sampling/sampler.h"
#include "service/tracing/slowest_calls.h"
#include "service/tracing/tracing.h"
#include "store/store.h"

struct server_history;
struct http_door;

/* The settings of the Azure Tables door. */
struct odata_settings {
    const char *version;    /* x-ms-version of replies to requests without a version */
    bool takes_request_ids; /* the x-ms-client-request-id of a request is the request_id of its write */
};

struct service {
    struct store *store;
    struct odata_settings odata;
    const struct http_door *const
        *doors; /* the listener for HTTP asks them in this order; NULL: there are none */
    size_t door_count;
    struct cors cors; /* settings of the same listener */
    struct health health;
    atomic_int queues; /* a bucket belongs to the queue bucket % queues */
    struct authenticator authenticator;
    struct recheck recheck;
    struct audit_log audit_log;
    bool speaks_tls;
    atomic_bool draining;
    atomic_llong watchers;       /* the number of change feeds that are watched now */
    atomic_llong changes_told;   /* the number of changes that were sent to them */
    atomic_llong blob_bytes_in;  /* bytes of content that puts of blobs have sent */
    atomic_llong blob_bytes_out; /* bytes of content that gets of blobs were answered with */
    struct advisor advisor;      /* counts the queries of tables that ask for advice */
    struct sampler sampler;      /* counts the partitions that are read and written */
    struct rates *rates;         /* NULL: no limits */
    struct memory_shares memory; /* the memory that open calls hold */
    /* counted by door; one more counter for requests of no door; NULL: not counted */
    struct counters *http_requests;
    struct counters *calls;         /* made by metrics_calls_new; NULL: calls are not counted */
    struct server_history *history; /* of the last hour */
    struct tracing tracing;
    bool takes_files;            /* transactions may have write_file steps */
    const char *http_call_hosts; /* that transactions may call; NULL: none */
    struct slowest_calls slowest;
    int64_t slow_call_us; /* calls that take at least so long are logged; 0: none */
    int64_t memory_limit_bytes;
};

#endif
