-- SPDX-License-Identifier: Apache-2.0
-- Renew what $1 holds and take what is free, for $2 milliseconds. A lease further ahead than twice that is free too: the
-- clock has been set back since (guard G30). Locked lanes are being taken by others.
update leases l
set owner = $1::text, until = now() + $2::int8 * interval '1 millisecond'
where l.lane in (
    select x.lane from leases x
    where x.owner = $1::text or x.until < now() or x.until > now() + $2::int8 * interval '2 milliseconds'
    order by x.lane
    for update skip locked)
returning l.lane
