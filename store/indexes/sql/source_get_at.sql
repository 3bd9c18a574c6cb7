-- SPDX-License-Identifier: Apache-2.0
-- source_get for sources of which a message has told where they lie: $6 ctids. A source is returned if it
-- lies there now (guard G76: the row there may be another one, or a version that is gone), unless it is
-- spread. By ctid: no index has "is not distinct from".
select u.n::int8, e.version, e.ts, e.dead, coalesce(e.expires, 0), case when octet_length(e.properties) <= $5::int4 then e.properties end
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        unnest($6::tid[]) as ctid, generate_subscripts($1::int8[], 1) as n
) u
join entities e on e.ctid = u.ctid
    and e.table_id is not distinct from u.t and e.partition_key is not distinct from u.p
    and e.row_key is not distinct from u.r and e.bucket is not distinct from u.b
where e.spread is null
