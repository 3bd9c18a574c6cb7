-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $2 rows of the deleted table or dropped index $1, which no server writes any more.
-- Returns the number of deleted rows.
with gone as (
    delete from entities e
    where e.ctid = any (array(select x.ctid from entities x where x.table_id = $1::int8 limit $2::int8))
    returning 1
)
select count(*) from gone
