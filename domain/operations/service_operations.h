/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_operations.h - operations on the settings of an account's table service.
 */
#ifndef DOMAIN_OPERATIONS_SERVICE_OPERATIONS_H
#define DOMAIN_OPERATIONS_SERVICE_OPERATIONS_H

#include "domain/catalogue/service_properties.h"

struct operation_service {
    struct service_change change; /* set */
};

struct outcome_service {
    struct service_properties properties; /* get: in the operation's arena */
};

#endif
