-- SPDX-License-Identifier: Apache-2.0
-- Update rows that this transaction has locked. $1 ctids: since entity_locked or entity_hold read them no other
-- transaction can have moved the rows. Returns the new ctids, in the order of the arrays.
update entities e
set version = u.v, ts = u.ts, dead = u.d, expires = nullif(u.e, 0), properties = u.x
from unnest($1::tid[], $2::int8[], $3::int8[], $4::bool[], $5::bytea[], $6::int8[]) u(ctid, v, ts, d, x, e)
where e.ctid = u.ctid
returning e.ctid
