-- SPDX-License-Identifier: Apache-2.0
-- Whether an entity of table $1 holds a blob. By blob_references_table.
select exists (select from blob_references where table_id = $1::int8)
