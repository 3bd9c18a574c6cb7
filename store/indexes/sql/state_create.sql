-- SPDX-License-Identifier: Apache-2.0
-- Insert state rows for source keys for which state_hold has found none; this transaction locks the
-- rows that it inserts. If another transaction is inserting a row, the statement waits for it and
-- leaves the row to another state_hold. Arrays of one length, sorted by key, each key once. applied
-- is 0 until the transaction that has inserted the row updates or deletes it.
insert into index_state (table_id, partition_key, row_key, bucket, applied, manifest)
select u.t, u.p, u.r, u.b, 0, ''
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) u(t, p, r, b)
on conflict (table_id, partition_key, row_key, bucket) do nothing
returning ctid
