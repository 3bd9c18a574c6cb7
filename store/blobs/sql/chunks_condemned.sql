-- SPDX-License-Identifier: Apache-2.0
-- Lock up to $1 condemned chunks; a following statement looks for parts that name them (guard G56).
-- Uses blob_chunks_condemned.
select account, digest from blob_chunks
where condemned is not null
limit $1::int8
for update skip locked
