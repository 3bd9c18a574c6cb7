/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_row.c - see the header.
 */
#include "store/session/audit_row.h"

#include "store/sql.h"

enum status audit_row_send(struct pg *pg, struct audit_record *record, struct arena *arena, struct error *err)
{
    struct pg_params params;

    record->number++;
    pg_params_init(&params, arena);
    pg_add_int8(&params, record->call_id);
    pg_add_int4(&params, record->number);
    pg_add_bytes(&params, record->account);
    pg_add_int2(&params, (int16_t)record->credential);
    pg_add_int2(&params, (int16_t)record->key);
    pg_add_bytes(&params, record->method);
    pg_add_bytes(&params, record->target);
    pg_add_bytes(&params, record->outcome);
    pg_add_int8(&params, record->left_out);
    return pg_send(pg, &sql_audit_insert, &params, err);
}
