-- SPDX-License-Identifier: Apache-2.0
-- The note of marker_resolve: a row comes back if the transaction with this marker has not committed.
select 1 from commits where bucket = 0 and lane = -1 - $1::int8 and n = $2::int8
