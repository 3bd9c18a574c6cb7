-- SPDX-License-Identifier: Apache-2.0
-- Give the next $4 bytes of a file to one step (guard G52). The row is locked to the end of the transaction. No row: the
-- file would have more than $5 bytes, or the account $6 files. $1 bucket, $2 account, $3 path. By the primary key.
insert into appended_files (bucket, account, path, size)
select $1::int2, $2::text, $3::text, $4::int8
where exists (select 1 from appended_files where account = $2::text and path = $3::text and bucket = $1::int2)
    or (select count(*) from (select 1 from appended_files where account = $2::text limit $6::int8) counted) < $6::int8
on conflict (account, path, bucket) do update
    set size = appended_files.size + excluded.size
    where appended_files.size + excluded.size <= $5::int8
returning size - $4::int8, settled
