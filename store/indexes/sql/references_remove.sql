-- SPDX-License-Identifier: Apache-2.0
-- No entity of table $1 holds the contents $2 any more.
delete from blob_references where table_id = $1::int8 and content_id = any ($2::uuid[])
