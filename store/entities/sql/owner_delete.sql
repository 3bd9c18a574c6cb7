-- SPDX-License-Identifier: Apache-2.0
-- Release values. The rows are locked. $1 index ids, $2 values: arrays of one length.
delete from unique_owners o
using unnest($1::int8[], $2::bytea[]) u(i, v)
where o.index_id = any (array[u.i]) and o.value = u.v
