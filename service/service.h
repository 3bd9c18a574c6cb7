/*
 * service.h - the server's parts in one place: what a call may use.
 */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/metrics.h"
#include "service/gate.h"
#include "service/health.h"
#include "service/rates.h"
#include "service/recheck.h"
#include "store/store.h"

struct service {
    struct store *store;
    struct health health;
    atomic_int queues; /* a bucket's is bucket % queues */
    struct gate gate;
    struct recheck recheck;
    bool speaks_tls;
    atomic_bool draining;
    atomic_llong watchers;     /* of change feeds, at this moment */
    atomic_llong changes_told; /* to them */
    struct rates *rates;       /* NULL: no limits */
    struct counters *calls;    /* metrics_calls_new; NULL: nobody counts */
};

#endif
