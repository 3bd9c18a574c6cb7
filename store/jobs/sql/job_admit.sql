-- SPDX-License-Identifier: Apache-2.0
-- The number of an account's operations that have not ended, counted up to $2, and an id for one
-- more, from the sequence of table ids; an id is never reused. $1 account. Purges do not count,
-- since deleted rows must be removed in any case; nor does the scrub, which no caller has started.
-- By operations_open.
select (
    select count(*)
    from (
        select from operations
        where account = $1::text and state in (1, 2) and kind not in ('drop_index', 'delete_table', 'scrub_index')
        limit $2::int8) o
), nextval('table_ids')
