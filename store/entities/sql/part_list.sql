-- SPDX-License-Identifier: Apache-2.0
-- The parts of entities whose rows this transaction has locked, in the order of their names, without their properties,
-- but with the ids of the contents of blobs that these hold (guard G74). Arrays of one length; n is the position in
-- them, from 1 (guard G63). The list ends with the part by which it exceeds $5 bytes, if each part counts as $6 bytes
-- and its name.
select l.n, l.first_name, l.bytes, l.count, l.contents
from (
    select u.n, p.first_name, octet_length(p.properties)::int8 as bytes, p.property_count::int8 as count,
        coalesce(p.contents, '') as contents, octet_length(p.first_name) + $6::int4 as listed,
        sum(octet_length(p.first_name) + $6::int4) over (order by u.n, p.first_name rows unbounded preceding) as all_listed
    from unnest($1::int8[], $2::text[], $3::text[], $4::int2[]) with ordinality u(t, p, r, b, n)
    join entity_parts p on p.table_id = any (array[u.t]) and p.partition_key = u.p and p.row_key = u.r and p.bucket = u.b) l
where l.all_listed - l.listed <= $5::int8
order by l.n, l.first_name
