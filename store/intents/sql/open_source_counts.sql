-- SPDX-License-Identifier: Apache-2.0
-- The number of source keys with which the indexes of these names may be behind, counted as
-- open_sources does. $1 accounts, $2 folded names; n: the position in them, from 1. An index that
-- is not READY, or does not exist, has no row.
select u.n, (
    select count(*) from (
        (select distinct i.partition_key, i.row_key from intents i where i.table_id = x.source_table_id limit $3::int8)
        union
        (select d.partition_key, d.row_key from dead_letters d
         where d.kind = 1 and d.table_id = x.source_table_id and d.index_id = 0 limit $3::int8)) k)
from unnest($1::text[], $2::text[]) with ordinality u(a, f, n)
join indexes x on x.account = u.a and x.folded = u.f and x.state = 3
