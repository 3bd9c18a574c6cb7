/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_properties.c - see the header.
 */
#include "domain/catalogue/service_properties.h"

#include "base/wire_form.h"

static const struct wire_form_field rule_fields[] = {
    WIRE_FORM_FIELD(1, TEXT, struct cors_rule, origins),
    WIRE_FORM_FIELD(2, TEXT, struct cors_rule, methods),
    WIRE_FORM_FIELD(3, TEXT, struct cors_rule, allowed_headers, .optional = true),
    WIRE_FORM_FIELD(4, TEXT, struct cors_rule, exposed_headers, .optional = true),
    WIRE_FORM_FIELD(5, UINT32, struct cors_rule, max_age_s, .optional = true),
};
static const struct wire_form rule_form = WIRE_FORM(rule_fields, struct cors_rule);

#define METRICS(first, member)                                                                               \
    WIRE_FORM_FIELD(first, TEXT, struct service_properties, member.version, .optional = true),               \
        WIRE_FORM_FIELD(first + 1, BOOL, struct service_properties, member.is_enabled, .optional = true),    \
        WIRE_FORM_FIELD(first + 2, BOOL, struct service_properties, member.includes_apis, .optional = true), \
        WIRE_FORM_FIELD(                                                                                     \
            first + 3, UINT32, struct service_properties, member.retention_days, .optional = true)

static const struct wire_form_field properties_fields[] = {
    WIRE_FORM_FIELD(1, TEXT, struct service_properties, logging.version, .optional = true),
    WIRE_FORM_FIELD(2, BOOL, struct service_properties, logging.reads, .optional = true),
    WIRE_FORM_FIELD(3, BOOL, struct service_properties, logging.writes, .optional = true),
    WIRE_FORM_FIELD(4, BOOL, struct service_properties, logging.deletes, .optional = true),
    WIRE_FORM_FIELD(5, UINT32, struct service_properties, logging.retention_days, .optional = true),
    METRICS(6, hour),
    METRICS(10, minute),
    WIRE_FORM_ARRAY(14, MESSAGES, struct service_properties, cors.items, cors.count, .form = &rule_form,
        .max = MAX_CORS_RULES),
};
static const struct wire_form properties_form = WIRE_FORM(properties_fields, struct service_properties);

struct service_properties service_properties_change(
    const struct service_properties *of, const struct service_change *change)
{
    struct service_properties properties = *of;

    if (change->sets_logging)
        properties.logging = change->to.logging;
    if (change->sets_hour)
        properties.hour = change->to.hour;
    if (change->sets_minute)
        properties.minute = change->to.minute;
    if (change->sets_cors)
        properties.cors = change->to.cors;
    return properties;
}

struct str service_properties_encode(const struct service_properties *properties, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    wire_form_write(&out, &properties_form, properties);
    return buf_str(&out);
}

bool service_properties_decode(struct str bytes, struct arena *arena, struct service_properties *out)
{
    struct service_properties properties = { 0 };

    if (!wire_form_read(bytes, &properties_form, arena, &properties))
        return false;
    *out = properties;
    return true;
}
