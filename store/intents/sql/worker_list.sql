-- SPDX-License-Identifier: Apache-2.0
-- The workers that have reported within an hour, at most 200 by name, with the operations that they
-- carry out now, one a line. Times: when the worker started in microseconds since 1970, and how long
-- ago it has reported in microseconds.
select w.name, (extract(epoch from w.started_at) * 1000000)::int8, (extract(epoch from now() - w.reported_at) * 1000000)::int8,
    w.threads, w.leases, w.claimed_keys, w.reconciled, w.stepped, w.retried, w.buried,
    coalesce((
        select string_agg(o.kind || ' ' || o.target, E'\n' order by o.operation_id)
        from operations o
        where o.state = 1 and o.owner = w.name and o.claim_expires_at > now()), '')
from workers w
where w.reported_at > now() - interval '1 hour'
order by w.name
limit 200
