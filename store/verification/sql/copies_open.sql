-- SPDX-License-Identifier: Apache-2.0
-- Which dependents of the copy rule $1 (its index's id) have work that is open or was given up: by themselves ($2
-- partition keys, $3 row keys, $4 buckets), or because of their source ($5 partition keys, $6 row keys, $7 buckets; it
-- may be no key at all). Arrays of one length; returns positions in them, from 1. By intents_key and primary keys, one
-- search for each: offset keeps conditions on the kind out of the search, and lists of all keys of the rule out of the plan.
select u.n
from unnest($2::text[], $3::text[], $4::int2[], $5::text[], $6::text[], $7::int2[]) with ordinality u(p, r, b, sp, sr, sb, n)
where exists (select from (
        select i.kind from intents i
        where i.table_id = $1::int8 and i.partition_key = u.p and i.row_key = u.r and i.bucket = u.b
        offset 0) x where x.kind = 3)
    or exists (select from dead_letters d
        where d.kind = 3 and d.table_id = $1::int8 and d.partition_key = u.p and d.row_key = u.r and d.bucket = u.b
        offset 0)
    or exists (select from (
        select i.kind from intents i
        where i.table_id = $1::int8 and i.partition_key = u.sp and i.row_key = u.sr and i.bucket = u.sb
        offset 0) x where x.kind = 4)
    or exists (select from copy_visits v
        where v.index_id = $1::int8 and v.partition_key = u.sp and v.row_key = u.sr
        offset 0)
    or exists (select from dead_letters d
        where d.kind = 4 and d.table_id = $1::int8 and d.partition_key = u.sp and d.row_key = u.sr and d.bucket = u.sb
        offset 0)
