/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.h - is the server serving? Asked by grpc.health.v1.Health, told by the store and by a stop.
 *
 * All services are in the same state: SERVING while the database can be reached and nobody stops the server.
 * The name HEALTH_LIVENESS is for those who would restart a program that is stuck: SERVING as long as it
 * can answer at all.
 */
#ifndef SERVICE_PROBES_HEALTH_H
#define SERVICE_PROBES_HEALTH_H

#include <pthread.h>
#include <stdbool.h>

#define HEALTH_LIVENESS "liveness"

struct health_watcher;

struct health {
    pthread_mutex_t lock; /* guards everything, and the calls of the watchers */
    bool available;
    bool draining;
    struct health_watcher *watchers;
};

void health_init(struct health *health);
void health_set_available(struct health *health, bool available);

/* NOT_SERVING from now on; watchers are told so, and their calls end. */
void health_drain(struct health *health);

#endif
