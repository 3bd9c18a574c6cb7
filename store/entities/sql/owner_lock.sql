-- SPDX-License-Identifier: Apache-2.0
-- Lock or create the owners of values (guard G36): an owner that exists is locked and not changed,
-- and an absent one is inserted with the key given. Arrays of one length, sorted by index and
-- value, each value once. Returns the owners that were absent, in the order of the arrays.
insert into unique_owners (index_id, value, partition_key, row_key)
select i, v, p, r from unnest($1::int8[], $2::bytea[], $3::text[], $4::text[]) u(i, v, p, r)
on conflict (index_id, value) do update set index_id = unique_owners.index_id where false
returning index_id, value
