-- SPDX-License-Identifier: Apache-2.0
-- Claim builds of the indexes $1, also of replacements, for owner $3 and $4 milliseconds: those
-- that no worker has claimed, that walk their source, and that are neither paused nor slowed down;
-- not operation $2. A claim that the owner itself has from a failed turn counts as free. A row that
-- another transaction has locked is left out.
update operations
set owner = $3::text, claim_expires_at = now() + $4::int8 * interval '1 millisecond'
where operation_id in (
    select operation_id from operations
    where kind in ('build', 'replace_index') and state = 1 and phase = 0 and rate = 0 and owner in ('', $3::text)
        and index_id = any ($1::int8[]) and operation_id <> $2::text
    for no key update skip locked
)
returning operation_id, index_id, has_cursor, cursor_partition, cursor_row, done, total, differences
