-- SPDX-License-Identifier: Apache-2.0
-- The oldest open intent of the buckets $1..$2 with an id of at least $3, whatever its age, and the
-- database's clock in microseconds since 1970.
select (extract(epoch from now()) * 1000000)::int8, f.id
from (select 1) one
left join lateral (
    select i.id
    from generate_series($1::int4, $2::int4) b(bucket)
    cross join lateral (
        select x.id from intents x where x.bucket = b.bucket::int2 and x.id >= $3::uuid order by x.id limit 1) i
    order by i.id
    limit 1) f on true
