/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quotas.h - what one account may have.
 */
#ifndef DOMAIN_CATALOGUE_QUOTAS_H
#define DOMAIN_CATALOGUE_QUOTAS_H

#include <stdint.h>

struct quotas {
    int32_t tables;          /* of callers; 0: the number in domain/limits.h */
    int32_t indexes;         /* that are not being dropped; 0: the same */
    int64_t entities, bytes; /* domain/access/account_usage.h; 0: not bounded */
};

#endif
