/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_handlers.h - the methods of the Azure Tables door. Each is defined in the file of its name.
 */
#ifndef SERVICE_HANDLERS_ODATA_ODATA_HANDLERS_H
#define SERVICE_HANDLERS_ODATA_ODATA_HANDLERS_H

#include "service/call.h"

extern const struct method odata_query_tables_method;
extern const struct method odata_get_table_method;
extern const struct method odata_create_table_method;
extern const struct method odata_delete_table_method;
extern const struct method odata_query_entities_method;
extern const struct method odata_get_entity_method;
extern const struct method odata_insert_entity_method;
extern const struct method odata_replace_entity_method;
extern const struct method odata_merge_entity_method;
extern const struct method odata_delete_entity_method;
extern const struct method odata_execute_batch_method;
extern const struct method odata_get_acl_method;
extern const struct method odata_set_acl_method;
extern const struct method odata_get_service_properties_method;
extern const struct method odata_set_service_properties_method;
extern const struct method odata_get_service_stats_method;
extern const struct method odata_unknown_method; /* for requests that match none of the methods above */

#endif
