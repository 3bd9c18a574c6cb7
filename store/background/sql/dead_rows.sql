-- SPDX-License-Identifier: Apache-2.0
-- What a purge would take: the highest version of dead rows last written more than $1 seconds ago by this
-- database's clock, and their number; no more than $2 are looked at. By entities_dead.
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
