-- SPDX-License-Identifier: Apache-2.0
-- $1 index id, $2 state. Not out of DROPPING.
update indexes set state = $2::int2 where index_id = $1::int8 and state <> 4
