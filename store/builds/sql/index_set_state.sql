-- SPDX-License-Identifier: Apache-2.0
-- Set the state of index $1 to $2, unless the index is DROPPING.
update indexes set state = $2::int2 where index_id = $1::int8 and state <> 4
