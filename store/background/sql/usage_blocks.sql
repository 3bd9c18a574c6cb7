-- SPDX-License-Identifier: Apache-2.0
-- The numbers of pages of the tables of entities, of chunks of blobs and of strays.
select pg_relation_size('entities') / block.size, pg_relation_size('blob_chunks') / block.size,
    pg_relation_size('blob_strays') / block.size
from (select current_setting('block_size')::int8 as size) block
