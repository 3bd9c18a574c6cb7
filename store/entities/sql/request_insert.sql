-- SPDX-License-Identifier: Apache-2.0
-- Records of requests, committed with their effects; sorted by key, each once. One that is there already
-- (23505) was decided meanwhile: the transaction fails, and is planned again with the record.
insert into requests (account, request_id, bucket, digest, response)
select * from unnest($1::text[], $2::text[], $3::int2[], $4::bytea[], $5::bytea[])
