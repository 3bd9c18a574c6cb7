-- SPDX-License-Identifier: Apache-2.0
-- Lock the state rows of source keys (guard G8): first those that exist, one after another in the order of the arrays,
-- and read them once they are locked; then insert the missing ones. Arrays of one length, sorted by key, each key once.
-- The result: a row for each that existed, with n, its position in the arrays from 1; behind these a row for each that was
-- inserted, without n, in the order of the arrays. If another transaction is inserting a row, the statement waits for it,
-- and then has no row for its key. applied is 0 until the transaction that has inserted the row updates or deletes it.
with held as materialized (
    select u.t, u.p, u.r, u.b, u.n, s.applied, s.manifest, s.ctid as at, s.entry_ctids
    from (
        select unnest($1::int8[]) as t, unnest($2::text[]) as p, unnest($3::text[]) as r, unnest($4::int2[]) as b,
            generate_subscripts($1::int8[], 1) as n
    ) u
    left join lateral (
        select x.applied, x.manifest, x.ctid, x.entry_ctids
        from index_state x
        where x.table_id = u.t and x.partition_key = u.p and x.row_key = u.r and x.bucket = u.b
        for no key update
    ) s on true
), created as (
    insert into index_state (table_id, partition_key, row_key, bucket, applied, manifest)
    select h.t, h.p, h.r, h.b, 0, ''
    from held h
    where h.at is null
    order by h.n
    on conflict (table_id, partition_key, row_key, bucket) do nothing
    returning ctid
)
select h.n::int8, h.applied, h.manifest, h.at, h.entry_ctids from held h where h.at is not null
union all
select null, 0, null, c.ctid, null from created c
