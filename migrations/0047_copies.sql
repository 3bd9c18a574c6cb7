-- SPDX-License-Identifier: Apache-2.0
-- Copy rules (docs/indexes.md): two more kinds of work, 3 for the copies of a dependent and 4 for the visit of all
-- dependents of a changed source, and how far each visit has come.
-- programs: 36
-- locks: intents index
create table copy_visits (
    index_id      bigint      not null, -- of the rule
    partition_key text        collate "C" not null, -- of the source
    row_key       text        collate "C" not null,
    bucket        smallint    not null, -- of its intents
    covers        uuid[]      not null, -- its intents that were open when the visit began (guard G71)
    visited_to    text        collate "C" not null default '', -- the row key of the last entry; empty: none yet
    visited       bigint      not null default 0,
    started       timestamptz not null default now(),
    primary key (index_id, partition_key, row_key)
);

create index intents_of_rules on intents (bucket, kind, id) where kind > 2;

create or replace function oldest_intents(of_bucket smallint) returns table (kind smallint, id uuid)
language sql stable parallel safe as $$
    (select x.kind, x.id from intents x where x.bucket = of_bucket and x.kind = 1 order by x.id limit 1)
    union all
    (select x.kind, x.id from intents x where x.bucket = of_bucket and x.kind = 2 order by x.id limit 1)
    union all
    (select x.kind, x.id from intents x where x.bucket = of_bucket and x.kind > 2 and x.kind = 3 order by x.id limit 1)
    union all
    (select x.kind, x.id from intents x where x.bucket = of_bucket and x.kind > 2 and x.kind = 4 order by x.id limit 1)
$$;
