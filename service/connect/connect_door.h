/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect_door.h - the Connect protocol over HTTP/1.1: POST /tavola.v1.EntityService/GetEntity with JSON or
 * protobuf, for all methods except health and reflection. docs/http.md describes it for callers.
 */
#ifndef SERVICE_CONNECT_CONNECT_DOOR_H
#define SERVICE_CONNECT_CONNECT_DOOR_H

#include "service/http/door.h"

extern const struct http_door connect_door;

#endif
