-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $2 owners of values of the dropped index $1, which no server writes any more.
-- Returns the number of deleted rows.
with gone as (
    delete from unique_owners o
    where o.ctid = any (array(select x.ctid from unique_owners x where x.index_id = $1::int8 limit $2::int8))
    returning 1
)
select count(*) from gone
