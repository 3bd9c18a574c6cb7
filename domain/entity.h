/*
 * entity.h - an entity as it is read.
 */
#ifndef DOMAIN_ENTITY_H
#define DOMAIN_ENTITY_H

#include <stdint.h>

#include "domain/entity_key.h"
#include "domain/etag.h"
#include "domain/property.h"

struct entity {
    struct entity_key key;
    struct etag etag;  /* its key need not be known: what is told has it */
    int64_t timestamp; /* ticks */
    struct property_list properties;
    int64_t expires; /* ticks; 0: never */
};

#endif
