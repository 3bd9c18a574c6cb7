-- SPDX-License-Identifier: Apache-2.0
-- The content of blob $2 of account $1, whose row this transaction has locked or created (then null).
select content_id from blobs where account = $1::text and name = $2::text
