/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_methods.c - see the header. The two tables are in the same order.
 */
#include "service/odata/odata_methods.h"

#include "service/handlers/odata/odata_handlers.h"

const struct method *const odata_methods[] = {
    &odata_query_tables_method,
    &odata_get_table_method,
    &odata_create_table_method,
    &odata_delete_table_method,
    &odata_query_entities_method,
    &odata_get_entity_method,
    &odata_insert_entity_method,
    &odata_replace_entity_method,
    &odata_merge_entity_method,
    &odata_delete_entity_method,
    &odata_execute_batch_method,
    &odata_get_acl_method,
    &odata_set_acl_method,
    &odata_get_service_properties_method,
    &odata_set_service_properties_method,
    &odata_get_service_stats_method,
    &odata_unknown_method,
};

static const enum odata_action actions[] = {
    ODATA_ACTION_QUERY_TABLES,
    ODATA_ACTION_GET_TABLE,
    ODATA_ACTION_CREATE_TABLE,
    ODATA_ACTION_DELETE_TABLE,
    ODATA_ACTION_QUERY_ENTITIES,
    ODATA_ACTION_GET_ENTITY,
    ODATA_ACTION_INSERT_ENTITY,
    ODATA_ACTION_REPLACE_ENTITY,
    ODATA_ACTION_MERGE_ENTITY,
    ODATA_ACTION_DELETE_ENTITY,
    ODATA_ACTION_BATCH,
    ODATA_ACTION_GET_ACL,
    ODATA_ACTION_SET_ACL,
    ODATA_ACTION_GET_SERVICE_PROPERTIES,
    /* odata_unknown_method has no action */
    ODATA_ACTION_SET_SERVICE_PROPERTIES,
    ODATA_ACTION_GET_SERVICE_STATS,
    ODATA_ACTION_COUNT,
};

_Static_assert(ARRAY_LEN(odata_methods) == ODATA_METHODS && ARRAY_LEN(actions) == ODATA_METHODS,
    "an action for each method");

const struct method *odata_methods_find(enum odata_action action)
{
    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        if (actions[i] == action)
            return odata_methods[i];
    return NULL;
}
