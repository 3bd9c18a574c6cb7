-- How many intents are open of the lanes $1, each of $2 buckets, per queue, of $3, and kind. Read as they lie, which
-- takes a tenth of the time of any index; of a table of more than $4 bytes so much is read, pages by chance, and the rest
-- estimated.
select i.bucket / $2::int4, i.bucket % $3::int4, i.kind,
    (count(*) * greatest(1, pg_relation_size('intents') / $4::int8::float8))::int8
from intents i tablesample system (least(100, 100 * $4::int8::float8 / greatest(1, pg_relation_size('intents'))))
where i.bucket / $2::int4 = any ($1::int2[]::int4[])
group by 1, 2, 3
