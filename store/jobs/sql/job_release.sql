-- SPDX-License-Identifier: Apache-2.0
-- Release the claim on an operation without a checkpoint. $1 id, $2 owner.
update operations set owner = '', claim_expires_at = now() where operation_id = $1::text and owner = $2::text
