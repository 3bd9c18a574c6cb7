-- SPDX-License-Identifier: Apache-2.0
-- The state of the scrub for each index. No existing table is locked.
create table index_scrubs (
    index_id    bigint      primary key,
    begun       timestamptz not null default '-infinity', -- when the last pass began
    passes      bigint      not null default 0,
    proven      timestamptz,                              -- when a verification last found no difference
    differences bigint      not null default 0            -- of the last verification; a fast one does not reset those of a full one
);
