-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $1 apply rates that were not updated for an hour.
with old as materialized (
    select r.table_id, r.queue, r.kind from apply_rates r where r.at < now() - interval '1 hour' limit $1::int8
    for update skip locked)
delete from apply_rates r
using old o
where r.table_id = o.table_id and r.queue = o.queue and r.kind = o.kind
returning 1
