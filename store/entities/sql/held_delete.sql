-- SPDX-License-Identifier: Apache-2.0
-- The entities of tables $3 with the keys $4, $5 do not hold the contents $2 of accounts $1 any more.
delete from blob_references r
using unnest($1::text[], $2::uuid[], $3::int8[], $4::text[], $5::text[]) u(account, id, t, p, k)
where (r.content_id, r.table_id, r.partition_key, r.row_key) = (u.id, u.t, u.p, u.k)
