-- SPDX-License-Identifier: Apache-2.0
-- Whether the second row of marker_resolve exists: if it does, the transaction with the marker ($1,
-- $2) has not committed.
select 1 from commit_markers where bucket = 0 and connection_id = -1 - $1::int8 and number = $2::int8
