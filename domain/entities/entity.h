/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity.h - an entity as it is read.
 */
#ifndef DOMAIN_ENTITIES_ENTITY_H
#define DOMAIN_ENTITIES_ENTITY_H

#include <stdint.h>

#include "domain/entities/etag.h"
#include "domain/keys/entity_key.h"
#include "domain/properties/property.h"

struct entity {
    struct entity_key key;
    struct etag etag;  /* its digest of the key may be 0: the reply computes it from the key */
    int64_t timestamp; /* ticks */
    struct property_list properties;
    int64_t expires; /* ticks; 0: never */
};

#endif
