-- SPDX-License-Identifier: Apache-2.0
-- Delete the dead letters of dependents of a copy rule that have their copies now: $1 index ids, $2 partition keys,
-- $3 row keys, $4 buckets. Kind 3: copying, with the index's id as the table id. The dependents are locked. Usually
-- the table has no such letter at all, and one search shows that for all keys. Otherwise by the primary key.
delete from dead_letters d
using unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) u(t, p, r, b)
cross join lateral (
    select x.ctid as letter_ctid
    from dead_letters x
    where x.kind = 3 and x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b
    offset 0
    for update
) found
where d.ctid = found.letter_ctid and exists (select from dead_letters where kind = 3)
