/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_operations.h - the usage of an account, and its quotas.
 */
#ifndef DOMAIN_OPERATIONS_USAGE_OPERATIONS_H
#define DOMAIN_OPERATIONS_USAGE_OPERATIONS_H

#include <stdint.h>

struct quota_usage {
    int64_t used, quota; /* quota 0: none */
};

struct outcome_usage {
    struct quota_usage tables, indexes; /* now */
    struct quota_usage entities, bytes; /* as of the last count */
    int64_t entries;                    /* of indexes, as of the last count */
    /* ticks: when the last count ended; 0: no count has ended */
    int64_t counted;
};

#endif
