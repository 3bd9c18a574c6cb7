-- SPDX-License-Identifier: Apache-2.0
-- There are $1 queues from now on: another version of the map, if it is another number. What was said of queues that are
-- gone is forgotten.
with gone as (
    delete from queue_controls where queue >= $1::int4)
update queue_map set version = version + 1, queues = $1::int4 where queues <> $1::int4
