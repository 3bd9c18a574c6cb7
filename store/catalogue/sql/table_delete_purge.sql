-- SPDX-License-Identifier: Apache-2.0
-- Start the job that removes a deleted table's rows.
insert into operations (operation_id, account, kind, target, state, started, table_id)
values ('purge-' || to_hex($1::int8), $3::text, 'delete_table', $4::text, 1, $2::int8, $1::int8)
returning operation_id
