-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $2 parts of entities of the deleted table $1, which no server writes any more.
-- Returns the number of deleted parts.
with gone as (
    delete from entity_parts p
    where p.ctid = any (array(select x.ctid from entity_parts x where x.table_id = $1::int8 limit $2::int8))
    returning 1
)
select count(*) from gone
