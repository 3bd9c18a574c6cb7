-- SPDX-License-Identifier: Apache-2.0
-- State rows for source keys that state_hold did not find: this transaction locks the rows that it inserts. A row that
-- another transaction has made meanwhile is waited for and left to be held. Arrays of one length, sorted by key, each
-- key once. applied = 0 until the transaction that made the row writes or removes it.
insert into index_state (table_id, partition_key, row_key, bucket, applied, manifest)
select u.t, u.p, u.r, u.b, 0, ''
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) u(t, p, r, b)
on conflict (table_id, partition_key, row_key, bucket) do nothing
returning ctid
