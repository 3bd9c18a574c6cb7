-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $2 request records that were decided more than $1 seconds ago by the database's
-- clock. By requests_at.
with old as materialized (
    select r.account, r.request_id, r.bucket from requests r
    where r.at < now() - $1::int8 * interval '1 second'
    limit $2::int8
    for update skip locked)
delete from requests r
using old o
where r.account = any (array[o.account]) and r.request_id = o.request_id and r.bucket = o.bucket
returning 1
