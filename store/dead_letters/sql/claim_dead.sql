-- SPDX-License-Identifier: Apache-2.0
-- The first claim behind consumer $3 and start $4, in the order of consumer and start, that has
-- expired or was made by consumer $1 in a start other than $2, with those of its intents that are
-- still open. A claim lasts less than two minutes, so one that expires later than that was made
-- before the clock was set back.
with claim as materialized (
    select consumer, start_id, buckets, ids
    from claims
    where (expires_at < now() or expires_at > now() + interval '2 minutes' or (consumer = $1::text and start_id <> $2::text))
        and (consumer, start_id) > ($3::text, $4::text)
    order by consumer, start_id
    limit 1)
select c.consumer, c.start_id, i.bucket, i.id, i.kind, i.table_id, i.partition_key, i.row_key
from claim c
left join lateral (
    select x.*
    from unnest(c.buckets, c.ids) u(b, id)
    join intents x on x.bucket = u.b and x.id = u.id) i on true
