/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_door.h - the door for clients of Azure Tables. It takes every request that no door before it has taken.
 */
#ifndef SERVICE_ODATA_ODATA_DOOR_H
#define SERVICE_ODATA_ODATA_DOOR_H

#include "service/http/door.h"

extern const struct http_door odata_door;

#endif
