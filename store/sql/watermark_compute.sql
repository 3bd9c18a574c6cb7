-- In one snapshot, per lane of $1, each of $2 buckets: the database's clock in microseconds since 1970, the
-- oldest open intent of a source key (null: none), and how many intents of any kind are open; no more than $3
-- of a lane are counted.
select l.lane, (extract(epoch from now()) * 1000000)::int8,
    (select i.id
     from generate_series(l.lane * $2::int4, l.lane * $2::int4 + $2::int4 - 1) b(bucket)
     cross join lateral (
         select x.id from intents x where x.bucket = b.bucket::int2 and x.kind = 1 order by x.id limit 1) i
     order by i.id
     limit 1),
    (select count(*)
     from (
         select from intents x
         where x.bucket between (l.lane * $2::int4)::int2 and (l.lane * $2::int4 + $2::int4 - 1)::int2
         limit $3::int8) i)
from unnest($1::int2[]) l(lane)
