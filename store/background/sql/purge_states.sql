-- SPDX-License-Identifier: Apache-2.0
-- Some state rows of a table that is gone. $1 table id, $2 how many. Returns how many went.
with gone as (
    delete from index_state s
    where s.ctid = any (array(select x.ctid from index_state x where x.table_id = $1::int8 limit $2::int8))
    returning 1
)
select count(*) from gone
