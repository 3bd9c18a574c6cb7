-- SPDX-License-Identifier: Apache-2.0
-- Which intents of these blocks are not done. n: the wait that a block belongs to; bucket; the
-- first and the last id, which one transaction has reserved. A row comes back for an open intent
-- (null), and for one that a dead letter has replaced: the dead letter's number, whether it is
-- given up and not being retried, and its cause. By the primary key, and dead_letters_keys.
select u.n, d.dead_letter_id, d.dead, d.cause
from unnest($1::int8[], $2::int2[], $3::uuid[], $4::uuid[]) u(n, b, f, l)
left join lateral (
    select x.dead_letter_id, x.dead, x.cause from dead_letters x
    where x.bucket = u.b and x.kind <> 2 and x.index_id = 0
        and (x.last_dropped_intent >= u.f or exists (select from unnest(x.intents) i where i between u.f and u.l))
    order by x.dead desc
    limit 1) d on true
where d.dead_letter_id is not null
    or exists (select from intents i where i.bucket = u.b and i.id between u.f and u.l)
