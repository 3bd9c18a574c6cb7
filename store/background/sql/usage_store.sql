-- SPDX-License-Identifier: Apache-2.0
-- Store the result of a count: tables $1 have $2 rows of $3 bytes, and all other tables have none; table 0 stands for the
-- chunks of blobs and the strays of account $4. Returns one row for each account whose usage has changed.
with summed as (
    select * from unnest($1::int8[], $2::int8[], $3::int8[], $4::text[]) u(table_id, counted, bytes, account)),
tabled as (
    select t.account, coalesce(sum(c.counted) filter (where t.index_id is null), 0)::int8 as entities,
        coalesce(sum(c.counted) filter (where t.index_id is not null), 0)::int8 as entries,
        coalesce(sum(c.bytes), 0)::int8 as bytes
    from tables t left join summed c on c.table_id = t.table_id
    where t.live
    group by t.account),
chunked as (
    select account, bytes from summed where table_id = 0),
counted as (
    select account, coalesce(t.entities, 0) as entities, coalesce(t.entries, 0) as entries,
        coalesce(t.bytes, 0) + coalesce(k.bytes, 0) as bytes
    from tabled t full join chunked k using (account)),
ended as (update usage_counts set ended = now()),
gone as (
    delete from account_usage a where not exists (select from counted c where c.account = a.account)
    returning a.account),
stored as (
    insert into account_usage as a (account, entities, entries, bytes)
    select account, entities, entries, bytes from counted
    on conflict (account) do update
    set entities = excluded.entities, entries = excluded.entries, bytes = excluded.bytes
    where (a.entities, a.entries, a.bytes) is distinct from (excluded.entities, excluded.entries, excluded.bytes)
    returning a.account)
select account from gone union all select account from stored
