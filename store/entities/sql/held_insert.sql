-- SPDX-License-Identifier: Apache-2.0
-- The entities of tables $3 with the keys $4, $5 hold the contents $2 of accounts $1 from now on.
insert into blob_references (account, content_id, table_id, partition_key, row_key)
select * from unnest($1::text[], $2::uuid[], $3::int8[], $4::text[], $5::text[])
on conflict do nothing
