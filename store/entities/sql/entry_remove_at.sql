-- SPDX-License-Identifier: Apache-2.0
-- Delete entries of which the manifests tell where they lie: $5 ctids. An entry is deleted if it lies there
-- (guard G76: it may have moved, and another row may lie there now). Returns n, the position in the arrays from 1,
-- for each deleted one. By ctid: no index has "is not distinct from".
delete from entities e
using (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        unnest($5::tid[]) as ctid, generate_subscripts($1::int8[], 1) as n
) u
where e.ctid = u.ctid
    and e.table_id is not distinct from u.t and e.partition_key is not distinct from u.p
    and e.row_key is not distinct from u.r and e.bucket is not distinct from u.b
returning u.n::int8
