/* SPDX-License-Identifier: Apache-2.0 */
/* row_state.h - the row of an entity at one moment: live, or deleted but not yet purged. */
#ifndef DOMAIN_ENTITIES_ROW_STATE_H
#define DOMAIN_ENTITIES_ROW_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "domain/properties/property.h"

struct row_state {
    bool live;
    int64_t version; /* of the row, live or dead; 0: there is no row */
    int64_t ts;
    struct property_list properties; /* empty unless live */
    struct property_rest rest;       /* of a wide entity: the parts that were not read */
    int64_t expires;                 /* ticks; 0: never */
    /* expired and not deleted yet; a plan treats the entity as not live */
    bool due;
};

#endif
