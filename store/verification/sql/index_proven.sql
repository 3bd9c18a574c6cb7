-- SPDX-License-Identifier: Apache-2.0
-- Store the result of the verification of a whole index, operation $1: the index is proven if there
-- was no difference. A fast verification does not revoke the differences that a full one has found.
-- Other operations change nothing.
insert into index_scrubs as s (index_id, proven, differences)
select r.index_id, case when r.found = 0 then now() end, r.found
from (
    select x.index_id, x.missing + x.dangling + x.mismatched + x.manifests + x.copies as found
    from index_reports x
    where x.operation_id = $1::text and x.is_whole and not x.repairs
) r
on conflict (index_id) do update
set proven = case
        when excluded.differences = 0 and s.differences > 0 and (select is_fast from index_reports where operation_id = $1::text)
            then s.proven
        else coalesce(excluded.proven, s.proven) end,
    differences = case
        when excluded.differences = 0 and (select is_fast from index_reports where operation_id = $1::text) then s.differences
        else excluded.differences end
