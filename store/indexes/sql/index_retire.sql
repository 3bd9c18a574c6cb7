-- SPDX-License-Identifier: Apache-2.0
-- Set index $1 to DROPPING: no server writes its entries any more, and its name is free.
with entries as (
    update tables set live = false where table_id = $1::int8
)
update indexes set state = 4 where index_id = $1::int8
