-- SPDX-License-Identifier: Apache-2.0
-- Lock and change state rows that were read without a lock (guard G8), if they have not changed
-- since. Arrays of one length, sorted by key: $1 ctids as they were read, $2 partition keys, $3 row
-- keys, $4 and $5 applied and manifest as they were read, $6 and $7 their new values; $8 table id.
-- If a row has moved, or another row has its ctid now, nothing is changed. n is the position in the
-- arrays, from 1; the new ctid comes with it. Only the ctid may be used to find rows, so no other
-- column is compared with "=".
update index_state s
set applied = u.a, manifest = u.m
from (
    select unnest($1::tid[]) as ctid, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int8[]) as was_a,
        unnest($5::bytea[]) as was_m, unnest($6::int8[]) as a, unnest($7::bytea[]) as m,
        generate_subscripts($1::tid[], 1) as n
) u
where s.ctid = u.ctid and s.table_id is not distinct from $8::int8 and s.partition_key is not distinct from u.p
    and s.row_key is not distinct from u.r and s.applied is not distinct from u.was_a
    and s.manifest is not distinct from u.was_m
returning u.n::int8, s.ctid
