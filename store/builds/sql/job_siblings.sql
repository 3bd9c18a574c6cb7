-- SPDX-License-Identifier: Apache-2.0
-- Claim builds, also of replacements, that no worker has, that walk their source and are neither paused nor slowed down, of the
-- indexes $1, but for operation $2: $3 owner, $4 for how many milliseconds. What the owner has from a turn that failed counts as free.
-- One that another transaction has locked is left out.
update operations
set owner = $3::text, claim_expires_at = now() + $4::int8 * interval '1 millisecond'
where operation_id in (
    select operation_id from operations
    where kind in ('build', 'replace_index') and state = 1 and phase = 0 and rate = 0 and owner in ('', $3::text)
        and index_id = any ($1::int8[]) and operation_id <> $2::text
    for no key update skip locked
)
returning operation_id, index_id, has_cursor, cursor_partition, cursor_row, done, total, differences
