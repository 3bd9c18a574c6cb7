-- SPDX-License-Identifier: Apache-2.0
-- Delete at most $1 commit markers that are an hour old: their connections are closed, so nobody
-- resolves a COMMIT with them any more.
with old as materialized (
    select c.bucket, c.connection_id, c.number from commit_markers c where c.at < now() - interval '1 hour' limit $1::int8
    for update skip locked)
delete from commit_markers c
using old o
where c.bucket = any (array[o.bucket]) and c.connection_id = o.connection_id and c.number = o.number
returning 1
