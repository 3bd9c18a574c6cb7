-- SPDX-License-Identifier: Apache-2.0
-- Give table $1 blob properties, or with $2 false take them away. The statement runs inside a change of the catalogue,
-- while no writer uses the table's old settings.
update tables set blob_properties = $2::bool where table_id = $1::int8
