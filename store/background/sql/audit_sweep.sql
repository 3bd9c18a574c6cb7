-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $2 audit records that are older than $1 seconds by the database's clock. By
-- audit_records_recorded.
with old as materialized (
    select audit_id from audit_records
    where recorded < now() - make_interval(secs => $1::int8::float8)
    order by recorded
    limit $2::int8
    for update skip locked)
delete from audit_records r
using old o
where r.audit_id = o.audit_id
returning 1
