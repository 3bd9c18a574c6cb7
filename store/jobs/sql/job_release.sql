-- SPDX-License-Identifier: Apache-2.0
-- Let go of an operation without having done anything. $1 id, $2 owner.
update operations set owner = '', claim_expires_at = now() where operation_id = $1::text and owner = $2::text
