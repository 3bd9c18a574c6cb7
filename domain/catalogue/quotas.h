/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quotas.h - the quotas of one account.
 */
#ifndef DOMAIN_CATALOGUE_QUOTAS_H
#define DOMAIN_CATALOGUE_QUOTAS_H

#include <stdint.h>

struct quotas {
    int32_t tables;          /* callers' tables; 0: the number in domain/limits.h */
    int32_t indexes;         /* that are not being dropped; 0: the number in domain/limits.h */
    int64_t entities, bytes; /* see domain/access/account_usage.h; 0: no bound */
};

#endif
