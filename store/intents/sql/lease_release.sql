-- SPDX-License-Identifier: Apache-2.0
-- Give up all leases, so that others need not wait until they end.
update leases set owner = '', expires_at = now() - interval '1 second' where owner = $1::text
