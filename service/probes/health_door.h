/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health_door.h - GET /healthz over HTTP: 200 while the state of grpc.health.v1 is SERVING, otherwise 503.
 */
#ifndef SERVICE_PROBES_HEALTH_DOOR_H
#define SERVICE_PROBES_HEALTH_DOOR_H

#include "service/http/door.h"

extern const struct http_door health_door;

#endif
