/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_calls.h - the settings of an account's table service.
 */
#ifndef STORE_ACCESS_SERVICE_CALLS_H
#define STORE_ACCESS_SERVICE_CALLS_H

#include "domain/operations/operation.h"

struct session;

/* OPERATION_SERVICE_PROPERTIES_GET and _SET: see domain/operations/service_operations.h. */
void service_calls_get(struct session *session, struct operation *operation);
void service_calls_set(struct session *session, struct operation *operation);

#endif
