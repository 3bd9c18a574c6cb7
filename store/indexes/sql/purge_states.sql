-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $2 index state rows of the deleted table $1. Returns the number of deleted rows.
with gone as (
    delete from index_state s
    where s.ctid = any (array(select x.ctid from index_state x where x.table_id = $1::int8 limit $2::int8))
    returning 1
)
select count(*) from gone
