/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_call.h - a listener for HTTP whose requests become calls of methods. door.h has the rules.
 */
#ifndef SERVICE_HTTP_HTTP_CALL_H
#define SERVICE_HTTP_HTTP_CALL_H

#include "http/server.h"
#include "service/http/door.h"

struct service;

/* What all calls of a listener share. It must outlive the listener. The service has the list of doors. */
struct http_call_host {
    struct service *service;
    const struct rpc_method *rows; /* one for each method, in the order of methods_all */
};

/* Fill in *host. Its memory is in the arena, which must outlive the listener. */
void http_call_host_init(struct http_call_host *host, struct service *service, struct arena *arena);

/* The events of a listener whose context is a struct http_call_host. */
extern const struct http_events http_call_events;

#endif
