-- SPDX-License-Identifier: Apache-2.0
-- Intents, committed with the writes that cause them. Returns their ctids, in the order of the arrays.
insert into intents (table_id, partition_key, row_key, bucket, id, kind, version)
select unnest($1::int8[]), unnest($2::text[]), unnest($3::text[]), unnest($4::int2[]), unnest($5::uuid[]),
    unnest($6::int2[]), unnest($7::int8[])
returning ctid
