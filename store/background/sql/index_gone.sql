-- SPDX-License-Identifier: Apache-2.0
-- The end of a dropped index: nobody can find it any more, its entries are deleted. $1 index id.
with entries as (
    delete from tables where table_id = $1::int8 and not live
)
delete from indexes where index_id = $1::int8 and state = 4
