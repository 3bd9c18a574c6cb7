-- SPDX-License-Identifier: Apache-2.0
-- How many operations of an account have not ended, counted up to $2, and an id for one more, of a kind that table ids are
-- drawn from; never reused. $1 account. Purges do not count: what is deleted must go; nor does
-- the scrub, which no caller has begun. By operations_open.
select (
    select count(*)
    from (
        select from operations
        where account = $1::text and state in (1, 2) and kind not in ('drop_index', 'delete_table', 'scrub_index')
        limit $2::int8) o
), nextval('table_ids')
