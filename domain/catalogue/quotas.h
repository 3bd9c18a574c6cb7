/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quotas.h - what one account may have.
 */
#ifndef DOMAIN_CATALOGUE_QUOTAS_H
#define DOMAIN_CATALOGUE_QUOTAS_H

#include <stdint.h>

/* 0: the number in domain/limits.h. */
struct quotas {
    int32_t tables;  /* of callers */
    int32_t indexes; /* that are not being dropped */
};

#endif
