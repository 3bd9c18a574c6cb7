-- SPDX-License-Identifier: Apache-2.0
-- A report as callers see it. $1 account, $2 operation id. The index id comes first.
select r.index_id, o.operation_id, o.target, r.repairs, r.dry_run, r.is_whole, o.state, o.started, o.ended, r.sources, r.entries,
    r.in_flight, r.missing, r.dangling, r.mismatched, r.manifests, r.mended, r.remaining, r.is_fast, r.copies
from index_reports r join operations o on o.operation_id = r.operation_id
where o.account = $1::text and r.operation_id = $2::text
