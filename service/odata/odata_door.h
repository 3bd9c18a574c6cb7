/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_door.h - the door for clients of Azure Tables. It is asked last, and recognises every request.
 */
#ifndef SERVICE_ODATA_ODATA_DOOR_H
#define SERVICE_ODATA_ODATA_DOOR_H

#include "service/odata/odata_call.h"

extern const struct http_door odata_door;

/*
 * Read URL, verb and headers of the request of http->exchange, and fill *call and http->method. Errors have
 * the reasons of odata_error.h.
 */
MUST_USE enum status odata_door_read_request(
    struct http_call *http, struct odata_call *call, struct error *err);

#endif
