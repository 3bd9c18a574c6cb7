-- A page of one partition: row keys from $4 on, or strictly behind it when $5, up to $6. Rows and bytes as in
-- entity_page.
select e.partition_key, e.row_key, e.version, e.ts, e.dead, e.properties
from (
    select p.*, sum(octet_length(p.properties)) over (rows between unbounded preceding and 1 preceding) as before
    from (
        select e.partition_key, e.row_key, e.version, e.ts, e.dead, e.properties
        from entities e
        where e.table_id = $1::int8 and e.partition_key = $2::text and e.bucket = $3::int2
          and e.row_key >= $4::text
          and (not $5::bool or e.row_key > $4::text)
          and e.row_key <= $6::text
        order by e.row_key
        limit $7::int8
    ) p
) e
where coalesce(e.before, 0) < $8::int8
