/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_state.h - an entity's row at one moment, live or dead.
 */
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
    int64_t expires;                 /* ticks; 0: never */
    bool due; /* its time has come: it is no longer there (not live) for whoever plans, and not yet deleted */
};

#endif
