-- SPDX-License-Identifier: Apache-2.0
-- As entity_update, for rows of tables with wide entities. $7: the bytes of the parts; 0: the
-- properties are in the row.
update entities e
set version = u.v, ts = u.ts, dead = u.d, expires = nullif(u.e, 0), properties = u.x, spread = nullif(u.s, 0)
from (
    select unnest($1::tid[]) as ctid, unnest($2::int8[]) as v, unnest($3::int8[]) as ts, unnest($4::bool[]) as d,
        unnest($5::bytea[]) as x, unnest($6::int8[]) as e, unnest($7::int8[]) as s
) u
where e.ctid = u.ctid
