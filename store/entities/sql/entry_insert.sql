-- SPDX-License-Identifier: Apache-2.0
-- Insert entries that the manifests of their sources do not name, sorted by key, each key once.
-- Version and ts are the source's. If an entry exists nevertheless, the statement fails with a
-- unique violation: the manifest was wrong. Returns their ctids, in the order of the arrays.
insert into entities (table_id, partition_key, row_key, bucket, version, ts, dead, properties, expires)
select t, p, r, b, v, ts, d, x, nullif(e, 0)
from unnest($1::int8[], $2::text[], $3::text[], $4::int2[], $5::int8[], $6::int8[], $7::bool[], $8::bytea[], $9::int8[])
    u(t, p, r, b, v, ts, d, x, e)
returning ctid
