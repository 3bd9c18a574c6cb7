-- SPDX-License-Identifier: Apache-2.0
-- Insert an operation. $1 id, $2 account, $3 kind, $4 target, $5 started, $6 table id, $7 index id,
-- $8 filter.
insert into operations (operation_id, account, kind, target, state, started, table_id, index_id, filter)
values ($1::text, $2::text, $3::text, $4::text, 1, $5::int8, $6::int8, $7::int8, $8::text)
