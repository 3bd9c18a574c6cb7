-- SPDX-License-Identifier: Apache-2.0
-- Markers of lanes that are gone: nobody asks for one an hour later. $1 at most.
with old as materialized (
    select c.bucket, c.lane, c.n from commits c where c.at < now() - interval '1 hour' limit $1::int8
    for update skip locked)
delete from commits c
using old o
where c.bucket = any (array[o.bucket]) and c.lane = o.lane and c.n = o.n
returning 1
