-- SPDX-License-Identifier: Apache-2.0
-- Lock blob $2 of account $1, and return its content. No row: there is no such blob.
select content_id from blobs where account = $1::text and name = $2::text for update
