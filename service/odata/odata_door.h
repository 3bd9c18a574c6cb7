/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_door.h - the door for clients of Azure Tables. It takes every request that no door before it has taken.
 */
#ifndef SERVICE_ODATA_ODATA_DOOR_H
#define SERVICE_ODATA_ODATA_DOOR_H

#include "service/odata/odata_call.h"

extern const struct http_door odata_door;

/*
 * Read URL, verb and headers of the request of http->exchange: fills *call and http->method. Errors: what is wrong with
 * them, in the form of odata_error.h.
 */
MUST_USE enum status odata_door_read_request(
    struct http_call *http, struct odata_call *call, struct error *err);

#endif
