/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_properties.h - the settings that an account keeps for its table service, in the form that
 * clients of Azure Tables use. Pure.
 *
 * The CORS rules have an effect. Logging and metrics are stored and returned, without an effect:
 * the operator decides what the server logs and counts.
 */
#ifndef DOMAIN_CATALOGUE_SERVICE_PROPERTIES_H
#define DOMAIN_CATALOGUE_SERVICE_PROPERTIES_H

#include "base/arena.h"
#include "domain/catalogue/cors_rules.h"

enum { MAX_RETENTION_DAYS = 365, MAX_SETTINGS_VERSION_BYTES = 16 };

struct service_logging {
    struct str version; /* empty: 1.0 */
    bool reads, writes, deletes;
    uint32_t retention_days; /* 0: for ever */
};

struct service_metrics {
    struct str version; /* empty: 1.0 */
    bool is_enabled, includes_apis;
    uint32_t retention_days; /* 0: for ever */
};

struct service_properties {
    struct service_logging logging;
    struct service_metrics hour, minute;
    struct cors_rules cors;
};

/* New settings; those that are not set stay unchanged. */
struct service_change {
    bool sets_logging, sets_hour, sets_minute, sets_cors;
    struct service_properties to;
};

struct service_properties service_properties_change(
    const struct service_properties *of, const struct service_change *change);

/*
 * The stored form. Decoded strings borrow the bytes. Empty bytes decode to the settings of an
 * account that has set none.
 */
struct str service_properties_encode(const struct service_properties *properties, struct arena *arena);
bool service_properties_decode(struct str bytes, struct arena *arena, struct service_properties *out);

#endif
