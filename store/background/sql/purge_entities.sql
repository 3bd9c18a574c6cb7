-- SPDX-License-Identifier: Apache-2.0
-- Some rows of a table that nobody can write any more. $1 table id, $2 how many. Returns how many went.
with gone as (
    delete from entities e
    where e.ctid = any (array(select x.ctid from entities x where x.table_id = $1::int8 limit $2::int8))
    returning 1
)
select count(*) from gone
