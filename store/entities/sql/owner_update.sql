-- SPDX-License-Identifier: Apache-2.0
-- Give values to new owners. The rows are locked. Arrays of one length: index ids, values, the new
-- owners' keys.
update unique_owners o
set partition_key = u.p, row_key = u.r
from unnest($1::int8[], $2::bytea[], $3::text[], $4::text[]) u(i, v, p, r)
where o.index_id = any (array[u.i]) and o.value = u.v
