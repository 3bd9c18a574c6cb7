-- SPDX-License-Identifier: Apache-2.0
-- Delete blob $2 of account $1, whose row is locked.
delete from blobs where account = $1::text and name = $2::text
