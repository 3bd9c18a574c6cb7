-- Open intents of the buckets $1..$2, from id $3 on, at least $4 microseconds old, whose key is not waiting for
-- its next retry; oldest first, $5 at most, of one bucket an eighth of it, so that the work stays bounded however
-- much is open. One made more than five seconds from now is as old: the clock has been set back since, and so it has when a
-- retry is more than two minutes away. By (bucket, id).
select i.bucket, i.id, i.kind, i.table_id, i.partition_key, i.row_key, i.version
from (select (extract(epoch from now()) * 1000000)::int8 as us) clock
cross join lateral (values
    ($3::uuid, (lpad(to_hex(clock.us - $4::int8), 16, '0') || repeat('0', 16))::uuid),
    ((lpad(to_hex(clock.us + 5000000), 16, '0') || repeat('0', 16))::uuid, repeat('f', 32)::uuid)) age(low, high)
cross join generate_series($1::int4, $2::int4) b(bucket)
cross join lateral (
    select x.bucket, x.id, x.kind, x.table_id, x.partition_key, x.row_key, x.version
    from intents x
    where x.bucket = b.bucket::int2 and x.id >= age.low and x.id < age.high
        and not exists (
            select from dead_letters d
            where d.kind = x.kind and d.table_id = x.table_id and d.partition_key = x.partition_key
                and d.row_key = x.row_key and d.index_id = 0 and d.bucket = x.bucket
                and d.next_try > now() and d.next_try < now() + interval '2 minutes'
            offset 0)
    order by x.id
    limit greatest($5::int8 / 8, 64)) i
order by i.id
limit $5::int8
