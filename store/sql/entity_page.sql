-- A page of a table in key order: keys from ($2, $3) on, or strictly behind it when $4, up to partition $5
-- (a text above every key when there is no bound: it must be an index condition). At most $6 rows, and none
-- after the first $7 bytes of properties.
select e.partition_key, e.row_key, e.version, e.ts, e.dead, e.properties
from (
    select p.*, sum(octet_length(p.properties)) over (rows between unbounded preceding and 1 preceding) as before
    from (
        select e.partition_key, e.row_key, e.version, e.ts, e.dead, e.properties
        from entities e
        where e.table_id = $1::int8
          and (e.partition_key, e.row_key) >= ($2::text, $3::text)
          and (not $4::bool or (e.partition_key, e.row_key) > ($2::text, $3::text))
          and e.partition_key <= $5::text
        order by e.partition_key, e.row_key
        limit $6::int8
    ) p
) e
where coalesce(e.before, 0) < $7::int8
