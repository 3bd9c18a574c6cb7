/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health_door.h - GET /healthz over HTTP: 200 while grpc.health.v1 answers SERVING, else 503.
 */
#ifndef SERVICE_PROBES_HEALTH_DOOR_H
#define SERVICE_PROBES_HEALTH_DOOR_H

#include "service/http/door.h"

extern const struct http_door health_door;

#endif
