-- SPDX-License-Identifier: Apache-2.0
-- The second row of marker_resolve: it exists if the transaction with the marker ($1, $2) has not committed.
select 1 from commit_markers where bucket = 0 and connection_id = -1 - $1::int8 and number = $2::int8
