-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $2 visits of sources by the rule of the dropped index $1. Returns the number of deleted rows.
with gone as (
    delete from copy_visits v
    where v.ctid = any (array(select x.ctid from copy_visits x where x.index_id = $1::int8 limit $2::int8))
    returning 1
)
select count(*) from gone
