-- SPDX-License-Identifier: Apache-2.0
-- Lock the feeds $1, sorted, until the end of the transaction. No other transaction draws numbers
-- of these feeds until the commit, so the numbers are in the order of commits.
select 1 from feeds where feed_id = any($1::int8[]) order by feed_id for update
