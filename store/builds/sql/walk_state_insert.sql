-- SPDX-License-Identifier: Apache-2.0
-- Insert state rows, with their manifests (guard G10), for source keys that had none. This
-- statement locks them (guard G8). Arrays of one length, sorted by key, each key once. If another
-- transaction is inserting a row, the statement waits for it and leaves the row as it is. Returns
-- the keys of the rows inserted here, in the order of the arrays.
insert into index_state (table_id, partition_key, row_key, bucket, applied, manifest)
select u.t, u.p, u.r, u.b, u.a, u.m
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        unnest($5::int8[]) as a, unnest($6::bytea[]) as m
) u
on conflict (table_id, partition_key, row_key, bucket) do nothing
returning partition_key, row_key
