-- SPDX-License-Identifier: Apache-2.0
-- Release all leases, so that other workers can take them at once.
update leases set owner = '', expires_at = now() - interval '1 second' where owner = $1::text
