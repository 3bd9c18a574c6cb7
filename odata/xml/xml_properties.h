/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml_properties.h - the settings of a table service as XML: the bodies of Get and Set Table Service
 * Properties, and of Get Table Service Stats.
 *
 *   <StorageServiceProperties><Logging>..</Logging><HourMetrics>..</HourMetrics><MinuteMetrics>..</MinuteMetrics>
 *   <Cors><CorsRule>..</CorsRule></Cors></StorageServiceProperties>
 */
#ifndef ODATA_XML_XML_PROPERTIES_H
#define ODATA_XML_XML_PROPERTIES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "domain/catalogue/service_properties.h"

/*
 * Read the settings to change. The setting of a missing element stays; an element that is there must be
 * complete.
 *
 * STATUS_INVALID  INVALID_XML_DOCUMENT: the document has another form, or cors_rules_check refuses the CORS rules;
 *                 MISSING_REQUIRED_XML_NODE, UNSUPPORTED_XML_NODE, INVALID_XML_NODE_VALUE
 */
MUST_USE enum status xml_properties_read(
    struct str body, struct arena *arena, struct service_change *out, struct error *err);

void xml_properties_write(const struct service_properties *properties, struct buf *out);

/* Write the statistics of a service whose secondary is never behind its primary. now: ticks. */
void xml_properties_write_stats(int64_t now, struct arena *arena, struct buf *out);

#endif
