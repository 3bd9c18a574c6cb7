-- SPDX-License-Identifier: Apache-2.0
-- Intents, committed with the writes that cause them. Returns their ctids, in the order of the arrays.
insert into intents (table_id, partition_key, row_key, bucket, id, kind, version)
select * from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::uuid[], $6::int2[], $7::int8[])
returning ctid
