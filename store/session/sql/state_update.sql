-- SPDX-License-Identifier: Apache-2.0
-- Store in state rows which version of the source the entries were made from, and which entries
-- there are (guard G10). $1 ctids: the rows are locked, so they have not moved since state_hold
-- read them.
update index_state s
set applied = u.a, manifest = u.m
from unnest($1::tid[], $2::int8[], $3::bytea[]) u(ctid, a, m)
where s.ctid = u.ctid
