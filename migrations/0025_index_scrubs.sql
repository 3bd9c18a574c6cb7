-- SPDX-License-Identifier: Apache-2.0
-- What the scrub knows of each index. Nothing that exists is locked.
create table index_scrubs (
    index_id    bigint      primary key,
    begun       timestamptz not null default '-infinity', -- the last pass
    passes      bigint      not null default 0,
    proven      timestamptz,                              -- when the index was last seen to be whole, by a pass or a caller's verification
    differences bigint      not null default 0            -- that the last of these has found; what a full one has found, a fast one leaves
);
