/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.h - the state that grpc.health.v1.Health reports. The store and the end of the program
 * change it.
 *
 * All services have the same state: SERVING while the server reaches the database and is not
 * stopping. The service name HEALTH_LIVENESS is for probes that restart a program that hangs: its
 * state is SERVING while the server can answer, and answers new connections to its own address
 * (listener_probe.h).
 */
#ifndef SERVICE_PROBES_HEALTH_H
#define SERVICE_PROBES_HEALTH_H

#include <pthread.h>
#include <stdbool.h>

#define HEALTH_LIVENESS "liveness"

/* A service name that only builds with failpoints know (base/failpoint.h), for `tavola doctor`. */
#define HEALTH_FAILPOINTS "failpoints"

/* A service name that only servers know that may open few files, for `tavola doctor`. */
#define HEALTH_FEW_FILES "few-open-files"

struct health_watcher;

struct health {
    pthread_mutex_t lock; /* guards all members and the calls of the watchers */
    bool available;
    bool draining;
    bool is_silent;     /* the listener does not answer */
    bool has_few_files; /* constant after the start */
    struct health_watcher *watchers;
};

void health_init(struct health *health);
void health_set_available(struct health *health, bool available);

/*
 * Set whether the server answers on its own address. Before the first call it counts as answering.
 */
void health_set_listening(struct health *health, bool is_listening);

/* The present state; true: SERVING. liveness: the state of HEALTH_LIVENESS. */
bool health_is_serving(struct health *health, bool liveness);

/* Change the state to NOT_SERVING for good. Watchers get it, and then their calls end. */
void health_drain(struct health *health);

#endif
