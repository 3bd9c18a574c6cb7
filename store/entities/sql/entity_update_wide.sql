-- SPDX-License-Identifier: Apache-2.0
-- As entity_update, for rows of tables with wide entities. $7: the bytes of the parts; 0: the
-- properties are in the row.
update entities e
set version = u.v, ts = u.ts, dead = u.d, expires = nullif(u.e, 0), properties = u.x, spread = nullif(u.s, 0)
from unnest($1::tid[], $2::int8[], $3::int8[], $4::bool[], $5::bytea[], $6::int8[], $7::int8[])
    u(ctid, v, ts, d, x, e, s)
where e.ctid = u.ctid
