-- SPDX-License-Identifier: Apache-2.0
-- As walk_rows, but the properties come with the first row, and with each later row as long as the
-- properties of all rows so far have at most $6 bytes together; otherwise they are null. The sum
-- costs as much as reading the rows.
select e.partition_key, e.row_key, e.version, e.ts, coalesce(e.expires, 0),
    case when e.size_so_far > greatest($6::int8, e.size) then null
        when e.spread is null then e.properties
        else spread_properties(e.table_id, e.partition_key, e.row_key, e.bucket, e.spread, 2147483647, $7::text[]) end
from (
    select s.*, sum(s.size) over (order by s.partition_key, s.row_key rows unbounded preceding) as size_so_far
    from (
        select x.*, case when x.spread is null then octet_length(x.properties)
            else spread_bytes(x.table_id, x.partition_key, x.row_key, x.bucket, $7::text[]) end as size
        from entities x
        where x.table_id = $1::int8
          and (x.partition_key, x.row_key) >= ($2::text, $3::text)
          and (not $4::bool or (x.partition_key, x.row_key) > ($2::text, $3::text))
          and not x.dead
        order by x.partition_key, x.row_key
        limit $5::int8) s) e
order by e.partition_key, e.row_key
