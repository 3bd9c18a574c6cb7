-- SPDX-License-Identifier: Apache-2.0
-- Update rows that this transaction has locked. $1 ctids: since entity_locked or entity_hold read them no other
-- transaction can have moved the rows. Returns the new ctids, in the order of the arrays.
update entities e
set version = u.v, ts = u.ts, dead = u.d, expires = nullif(u.e, 0), properties = u.x
from (
    select unnest($1::tid[]) as ctid, unnest($2::int8[]) as v, unnest($3::int8[]) as ts, unnest($4::bool[]) as d,
        unnest($5::bytea[]) as x, unnest($6::int8[]) as e
) u
where e.ctid = u.ctid
returning e.ctid
