-- SPDX-License-Identifier: Apache-2.0
-- The owners of values. $1 index ids, $2 values: arrays of the same length; n is the position in
-- them, from 1.
select u.n, o.partition_key, o.row_key
from unnest($1::int8[], $2::bytea[]) with ordinality u(i, v, n)
join unique_owners o on o.index_id = any (array[u.i]) and o.value = u.v
