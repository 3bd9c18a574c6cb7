-- SPDX-License-Identifier: Apache-2.0
-- Add to the counts of applied intents: $4 for each table $1, queue $2 and kind $3. Arrays of one
-- length.
insert into apply_rates as r (table_id, queue, kind, per_second, at)
select u.t, u.q, u.k, u.n / 10.0, now()
from unnest($1::int8[], $2::int2[], $3::int2[], $4::int8[]) u(t, q, k, n)
order by u.t, u.q, u.k
on conflict (table_id, queue, kind) do update
set per_second = r.per_second * exp(- abs(extract(epoch from now() - r.at)) / 10) + excluded.per_second,
    at = now()
