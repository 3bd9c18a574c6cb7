/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_door.h - the web page at / of the HTTP port: three files that are built into the program. The files
 * contain no data. The page gets its data through the JSON door, with the token that the user enters.
 */
#ifndef SERVICE_PAGE_PAGE_DOOR_H
#define SERVICE_PAGE_PAGE_DOOR_H

#include "service/http/door.h"

/* Recognises GET and HEAD of "/", "/style.css" and "/script.js", and no other request. */
extern const struct http_door page_door;

#endif
