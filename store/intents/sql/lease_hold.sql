-- SPDX-License-Identifier: Apache-2.0
-- Renew what $1 holds and take what is free, for $2 milliseconds. A lease further ahead than twice that is free too:
-- the clock has been set back since (guard G30). Locked bucket ranges are being taken by others.
update leases l
set owner = $1::text, expires_at = now() + $2::int8 * interval '1 millisecond'
where l.bucket_range in (
    select x.bucket_range from leases x
    where x.owner = $1::text or x.expires_at < now() or x.expires_at > now() + $2::int8 * interval '2 milliseconds'
    order by x.bucket_range
    for update skip locked)
returning l.bucket_range
