-- SPDX-License-Identifier: Apache-2.0
-- The next hand behind holder $3's in life $4 that nobody renews, or that holder $1 left behind in another life than
-- $2; and what of it is still open. Nobody holds a hand for two minutes: then the clock has been set back.
with hand as materialized (
    select holder, life, buckets, ids
    from in_hand
    where (until < now() or until > now() + interval '2 minutes' or (holder = $1::text and life <> $2::text)) and (holder, life) > ($3::text, $4::text)
    order by holder, life
    limit 1)
select h.holder, h.life, i.bucket, i.id, i.kind, i.table_id, i.partition_key, i.row_key
from hand h
left join lateral (
    select x.*
    from unnest(h.buckets, h.ids) u(b, id)
    join intents x on x.bucket = u.b and x.id = u.id) i on true
