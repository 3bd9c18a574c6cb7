-- SPDX-License-Identifier: Apache-2.0
-- The number of chunks of blobs that are not in store $1.
select count(*) from blob_chunks where store <> $1::int2
