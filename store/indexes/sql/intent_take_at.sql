-- SPDX-License-Identifier: Apache-2.0
-- intent_take for source keys of which a message has told where an open intent lies: $6 ctids. The intent
-- is deleted if a row of the key lies there (guard G76: what lies there now may be another key's). Returns
-- n for each deleted one. By ctid: no index has "is not distinct from".
delete from intents i
using (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        unnest($6::tid[]) as ctid, generate_subscripts($1::int8[], 1) as n
) u
where i.ctid = u.ctid
    and i.table_id is not distinct from u.t and i.partition_key is not distinct from u.p
    and i.row_key is not distinct from u.r and i.bucket is not distinct from u.b and i.kind is not distinct from $5::int2
returning u.n::int8
