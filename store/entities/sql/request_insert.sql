-- SPDX-License-Identifier: Apache-2.0
-- Insert the records of requests, committed with their effects; sorted by key, each key once. If
-- another transaction has recorded one of the requests meanwhile, the statement fails (23505), and
-- the writes are planned again with that record.
insert into requests (account, request_id, bucket, digest, response)
select unnest($1::text[]), unnest($2::text[]), unnest($3::int2[]), unnest($4::bytea[]), unnest($5::bytea[])
