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
#include "store/store.h"

struct server_history;
struct http_door;

/* How the Azure Tables door answers. */
struct odata_settings {
    const char *version;    /* x-ms-version of replies to requests that name none */
    bool takes_request_ids; /* a client's x-ms-client-request-id is the request_id of its write */
};

struct service {
    struct store *store;
    struct odata_settings odata;
    const struct http_door *const
        *doors; /* of the listener for HTTP, in the order in which they are asked; NULL: none */
    size_t door_count;
    struct cors cors; /* of the same listener */
    struct health health;
    atomic_int queues; /* the queue of a bucket is bucket % queues */
    struct authenticator authenticator;
    struct recheck recheck;
    struct audit_log audit_log;
    bool speaks_tls;
    atomic_bool draining;
    atomic_llong watchers;          /* watches of change feeds, at this moment */
    atomic_llong changes_told;      /* changes sent to them */
    struct advisor advisor;         /* of the queries of tables that ask for it */
    struct sampler sampler;         /* of the partitions that are read and written */
    struct rates *rates;            /* NULL: no limits */
    struct memory_shares memory;    /* of the calls that are open */
    struct counters *http_requests; /* by door, and those of no door; NULL: not counted */
    struct counters *calls;         /* metrics_calls_new; NULL: calls are not counted */
    struct server_history *history; /* of the last hour */
    int64_t memory_limit_bytes;
};

#endif
