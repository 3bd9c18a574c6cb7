-- SPDX-License-Identifier: Apache-2.0
-- Renew the leases of $1 and take free ones, for $2 milliseconds. A lease that ends more than twice
-- that time ahead is free too: the clock has been set back since (guard G30). Rows that other
-- workers have locked are being taken, and are skipped.
update leases l
set owner = $1::text, expires_at = now() + $2::int8 * interval '1 millisecond'
where l.bucket_range in (
    select x.bucket_range from leases x
    where x.owner = $1::text or x.expires_at < now() or x.expires_at > now() + $2::int8 * interval '2 milliseconds'
    order by x.bucket_range
    for update skip locked)
returning l.bucket_range
