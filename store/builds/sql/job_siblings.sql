-- SPDX-License-Identifier: Apache-2.0
-- Builds, also of replacements, that no worker has, that walk their source and are neither paused nor slowed down, of the indexes
-- $1, but for operation $2. They are locked to the end of the transaction; one that another transaction has locked is left out.
select operation_id, index_id, has_cursor, cursor_partition, cursor_row, done, total, differences
from operations
where kind in ('build', 'replace_index') and state = 1 and phase = 0 and rate = 0 and owner = '' and index_id = any ($1::int8[])
    and operation_id <> $2::text
order by operation_id
for no key update skip locked
