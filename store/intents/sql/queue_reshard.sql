-- SPDX-License-Identifier: Apache-2.0
-- Set the number of queues to $1. If that is another number, the map gets a new version, and the
-- controls of queues that no longer exist are deleted.
with gone as (
    delete from queue_controls where queue >= $1::int4)
update queue_map set version = version + 1, queues = $1::int4 where queues <> $1::int4
