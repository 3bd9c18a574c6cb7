-- SPDX-License-Identifier: Apache-2.0
-- A step has written its range of the file, up to $4. $1 bucket, $2 account, $3 path.
update appended_files set settled = greatest(settled, $4::int8)
where account = $2::text and path = $3::text and bucket = $1::int2
