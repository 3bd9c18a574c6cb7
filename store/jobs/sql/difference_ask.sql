-- SPDX-License-Identifier: Apache-2.0
-- Insert source keys that are to be checked, as differences whose class is not known yet. $1
-- operation id, $2 partition keys and $3 row keys: arrays of one length.
insert into index_differences (operation_id, number, class, state, has_source, source_partition, source_row,
    entry_partition, entry_row)
select $1::text, u.n, 0, 0, true, u.p, u.r, '', ''
from unnest($2::text[], $3::text[]) with ordinality u(p, r, n)
