-- SPDX-License-Identifier: Apache-2.0
-- Insert state rows, with their manifests (guard G10), for source keys that had none. This
-- statement locks them (guard G8). Arrays of one length, sorted by key, each key once. If another
-- transaction is inserting a row, the statement waits for it and leaves the row as it is. Returns
-- the keys of the rows inserted here, in the order of the arrays.
insert into index_state (table_id, partition_key, row_key, bucket, applied, manifest)
select u.t, u.p, u.r, u.b, u.a, u.m
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::int8[], $6::bytea[]) u(t, p, r, b, a, m)
on conflict (table_id, partition_key, row_key, bucket) do nothing
returning partition_key, row_key
