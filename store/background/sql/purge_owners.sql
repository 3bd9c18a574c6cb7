-- SPDX-License-Identifier: Apache-2.0
-- Some owners of values of an index that nobody can write any more. $1 index id, $2 how many. Returns how many went.
with gone as (
    delete from unique_owners o
    where o.ctid = any (array(select x.ctid from unique_owners x where x.index_id = $1::int8 limit $2::int8))
    returning 1
)
select count(*) from gone
