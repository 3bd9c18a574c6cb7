-- SPDX-License-Identifier: Apache-2.0
-- Release all leases of worker $1, so that other workers can take them at once, and its report.
with forgotten as (
    delete from workers where name = $1::text)
update leases set owner = '', expires_at = now() - interval '1 second' where owner = $1::text
