-- SPDX-License-Identifier: Apache-2.0
-- Announce that this transaction will draw numbers of the feeds $1, until its end (guard G47): an
-- advisory lock for each feed, and one whose key is 17765 and, in its last 48 bits, the last number
-- that was drawn before. All numbers of this transaction are larger. The locks are shared, so no
-- transaction waits.
select pg_advisory_xact_lock_shared(
        17765::int8 << 48 | case when s.is_called then s.last_value else 0 end),
    pg_advisory_xact_lock_shared(17766, (u.f & 2147483647)::int4)
from change_numbers s, unnest($1::int8[]) u(f)
