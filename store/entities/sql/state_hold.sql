-- SPDX-License-Identifier: Apache-2.0
-- Lock the existing state rows of the keys of a write (guard G40), one after another in the order of the
-- arrays, and read them once they are locked; n is the position in the arrays, from 1.
select u.n::int8, s.applied, s.manifest, s.ctid, s.entry_ctids
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        generate_subscripts($1::int8[], 1) as n
) u
cross join lateral (
    select x.applied, x.manifest, x.ctid, x.entry_ctids
    from index_state x
    where x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b
    for no key update
) s
