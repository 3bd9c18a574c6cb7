-- SPDX-License-Identifier: Apache-2.0
-- Dead letters are counted by an index, up to a bound, and those of whole keys of a table are found by one. Without
-- them, a call that shows an index, a look-up that asks for freshness, and the metrics read all dead letters of the table,
-- or of all accounts, and one account may make millions. dead_letters is locked against writers while its rows are read
-- twice.
-- programs: 36
-- locks: dead_letters index
create index dead_letters_counts on dead_letters (kind, discarded, table_id, index_id) where dead;

create index dead_letters_whole_keys on dead_letters (table_id, partition_key, row_key) where kind = 1 and index_id = 0;

-- The number of entities that an index may be wrong about: its own dead letters and those of whole keys; those of whole
-- keys; the discarded ones of both. Counting ends at `most` of each of the four kinds: of the index or of whole keys,
-- discarded or not.
create function index_dead_letters(of_table bigint, of_index bigint, most bigint)
returns table (n bigint, of_keys bigint, discarded bigint) language sql stable parallel safe as $$
    select sum(few.n)::int8, (sum(few.n) filter (where l.index_id = 0))::int8, (sum(few.n) filter (where l.discarded))::int8
    from (values (of_index, false), (of_index, true), (0, false), (0, true)) l(index_id, discarded)
    cross join lateral (
        select count(*) as n
        from (select from dead_letters d
            where d.dead and d.kind = 1 and d.discarded = l.discarded and d.table_id = of_table and d.index_id = l.index_id
            limit most) d) few
$$;
