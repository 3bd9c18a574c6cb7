-- SPDX-License-Identifier: Apache-2.0
-- Lock up to $2 contents that entities of table $1 hold, in their order (guard G60). Uses blob_references_table.
select account, content_id from blob_contents
where (account, content_id) in (
    select account, content_id from blob_references where table_id = $1::int8 limit $2::int8)
order by account, content_id
for update
