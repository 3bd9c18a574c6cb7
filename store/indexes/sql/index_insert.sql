-- SPDX-License-Identifier: Apache-2.0
-- Insert an index, BUILDING, and the table of its entries. $1 index id, $2 the source's table id,
-- $3 account, $4 name, $5 folded name, $6 definition, $7 the build's id, $8 now, $9 the index that
-- it replaces (0: none), $10 the time from which signatures give access to the table of its
-- entries.
with entries as (
    insert into tables (table_id, account, name, folded, created, live, index_id, signatures_from)
    values ($1::int8, $3::text, $4::text, $5::text, $8::int8, true, $1::int8, $10::int8)
)
insert into indexes (index_id, source_table_id, account, name, folded, state, definition, operation_id, replaces)
values ($1::int8, $2::int8, $3::text, $4::text, $5::text, 1, $6::bytea, $7::text, nullif($9::int8, 0))
