-- SPDX-License-Identifier: Apache-2.0
-- Hands that nobody renews, of which nothing is open any more: nobody is to be suspected. Pollers look at the hands of the
-- dead; where all work comes from Redis again nobody would. $1 at most.
with old as materialized (
    select h.holder, h.life from in_hand h
    where h.until < now() and not exists (
        select from unnest(h.buckets, h.ids) u(b, id) join intents x on x.bucket = u.b and x.id = u.id)
    limit $1::int8
    for update of h skip locked)
delete from in_hand h
using old o
where h.holder = o.holder and h.life = o.life
returning 1
