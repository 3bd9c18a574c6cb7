/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_door.h - the page at / of the HTTP port: three files that are part of the program. They hold no data; what the page shows
 * comes from the JSON door, with the token that the reader enters.
 */
#ifndef SERVICE_PAGE_PAGE_DOOR_H
#define SERVICE_PAGE_PAGE_DOOR_H

#include "service/http/door.h"

/* Finds GET and HEAD of "/", "/style.css" and "/script.js"; other requests are other doors'. */
extern const struct http_door page_door;

#endif
