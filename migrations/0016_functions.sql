-- SPDX-License-Identifier: Apache-2.0
-- Functions of intents and tables that several statements use. Each is one expression or one query,
-- so that PostgreSQL inlines it.

-- The time when an intent was made, in microseconds since 1970: its id begins with that time.
create function made_us(id uuid) returns bigint language sql immutable parallel safe as $$
    select ('x' || left(replace(id::text, '-', ''), 16))::bit(64)::int8
$$;

-- The oldest open intent of each kind in a bucket: by (bucket, id), and intents_transactions.
create function oldest_intents(of_bucket smallint) returns table (kind smallint, id uuid)
language sql stable parallel safe as $$
    (select x.kind, x.id from intents x where x.bucket = of_bucket and x.kind = 1 order by x.id limit 1)
    union all
    (select x.kind, x.id from intents x where x.bucket = of_bucket and x.kind = 2 order by x.id limit 1)
$$;

-- A count is estimated from 32 MB of the table. The factor is the table's size divided by 32 MB, at
-- least 1.
create function sample_factor(relation regclass) returns float8 language sql parallel safe as $$
    select greatest(1, pg_relation_size(relation) / 33554432.0::float8)
$$;
