-- SPDX-License-Identifier: Apache-2.0
-- The dead rows that a purge would remove: their number and their highest version. These were last
-- written more than $1 seconds ago by the database's clock; at most $2 of them are counted. By
-- entities_dead.
select coalesce(max(d.version), 0), count(*)
from (
    select e.version
    from generate_series(0, 1023) b(bucket)
    cross join lateral (
        select x.version from entities x
        where x.bucket = b.bucket::int2 and x.dead
            and x.ts < ((extract(epoch from now()) + 11644473600 - $1::int8) * 10000000)::int8
        limit $2::int8) e
    limit $2::int8) d
