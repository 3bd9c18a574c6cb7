-- SPDX-License-Identifier: Apache-2.0
-- What the entries of source keys were made from, and which they are (guard G10). $1 where the rows stand: they are locked,
-- so they have not moved since state_hold found them there.
update index_state s
set applied = u.a, manifest = u.m
from unnest($1::tid[], $2::int8[], $3::bytea[]) u(ctid, a, m)
where s.ctid = u.ctid
