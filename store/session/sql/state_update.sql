-- SPDX-License-Identifier: Apache-2.0
-- Store in state rows which version of the source the entries were made from, and which entries
-- there are (guard G10), with the ctids of the entries one behind the other. $1 ctids: the rows are
-- locked, so they have not moved since they were read.
update index_state s
set applied = u.a, manifest = u.m, entry_ctids = nullif(u.e, '')
from (
    select unnest($1::tid[]) as ctid, unnest($2::int8[]) as a, unnest($3::bytea[]) as m, unnest($4::bytea[]) as e
) u
where s.ctid = u.ctid
