/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_door.h - GET /schema.binpb over HTTP: the descriptors of the public API, for clients that need a schema
 * and cannot ask reflection, which is a gRPC stream in both directions.
 */
#ifndef SERVICE_PROBES_SCHEMA_DOOR_H
#define SERVICE_PROBES_SCHEMA_DOOR_H

#include "service/http/door.h"

extern const struct http_door schema_door;

#endif
