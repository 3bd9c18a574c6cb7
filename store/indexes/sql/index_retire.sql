-- SPDX-License-Identifier: Apache-2.0
-- Make an index DROPPING: no server writes its entries any more, and its name is free. $1 index id.
with entries as (
    update tables set live = false where table_id = $1::int8
)
update indexes set state = 4 where index_id = $1::int8
