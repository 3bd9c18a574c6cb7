-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $1 expired claims of which no intent is open, so that none of their keys is a
-- suspect. Workers that poll look for expired claims themselves; while all work comes from Redis,
-- only this statement removes them.
with old as materialized (
    select c.consumer, c.start_id from claims c
    where c.expires_at < now() and not exists (
        select from unnest(c.buckets, c.ids) u(b, id) join intents x on x.bucket = u.b and x.id = u.id)
    limit $1::int8
    for update of c skip locked)
delete from claims c
using old o
where c.consumer = o.consumer and c.start_id = o.start_id
returning 1
