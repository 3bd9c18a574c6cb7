-- SPDX-License-Identifier: Apache-2.0
-- Insert the index state rows of keys for which state_hold found none. $1 table ids, $2 partition
-- keys, $3 row keys, $4 buckets, $5 versions, $6 manifests: arrays of one length, sorted by key. If
-- a worker is inserting one of the rows, the statement waits; if the worker commits, the statement
-- fails, and the write begins anew (guard G40).
insert into index_state (table_id, partition_key, row_key, bucket, applied, manifest)
select u.t, u.p, u.r, u.b, u.a, u.m
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        unnest($5::int8[]) as a, unnest($6::bytea[]) as m
) u
