-- SPDX-License-Identifier: Apache-2.0
-- Insert entries that the manifests of their sources do not name, sorted by key, each key once.
-- Version and ts are the source's. If an entry exists nevertheless, the statement fails with a
-- unique violation: the manifest was wrong. Returns their ctids, in the order of the arrays.
insert into entities (table_id, partition_key, row_key, bucket, version, ts, dead, properties, expires)
select t, p, r, b, v, ts, d, x, nullif(e, 0)
from (
    select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
        unnest($5::int8[]) as v, unnest($6::int8[]) as ts, unnest($7::bool[]) as d, unnest($8::bytea[]) as x,
        unnest($9::int8[]) as e
) u
returning ctid
