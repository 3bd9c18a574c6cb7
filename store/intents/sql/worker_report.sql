-- SPDX-License-Identifier: Apache-2.0
-- Store what worker $1 says of itself: $2 seconds since its start, $3 threads, $4 leases, $5 keys
-- that it works on, $6 to $9 what it has done. Workers that have said nothing for an hour are
-- forgotten.
with forgotten as (
    delete from workers where reported_at < now() - interval '1 hour' and name <> $1::text)
insert into workers (name, started_at, reported_at, threads, leases, claimed_keys, reconciled, stepped, retried, buried)
values ($1::text, now() - $2::int8 * interval '1 second', now(), $3::int4, $4::int4, $5::int4, $6::int8, $7::int8, $8::int8, $9::int8)
on conflict (name) do update
set started_at = excluded.started_at, reported_at = excluded.reported_at, threads = excluded.threads, leases = excluded.leases,
    claimed_keys = excluded.claimed_keys, reconciled = excluded.reconciled, stepped = excluded.stepped,
    retried = excluded.retried, buried = excluded.buried
