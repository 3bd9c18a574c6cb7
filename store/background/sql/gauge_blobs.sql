-- SPDX-License-Identifier: Apache-2.0
-- For metrics: the contents of blobs that may be removed now, up to $1; the chunks that are
-- condemned, up to $1; for how many microseconds the oldest content may be removed already; and the strays
-- that may be removed now, up to $1. Uses blob_contents_collect, blob_chunks_condemned and blob_strays_due.
select
    (select count(*) from (
        select from blob_contents c where c.state <> 2 and c.kept_until <= now() limit $1::int8) counted),
    (select count(*) from (
        select from blob_chunks k where k.condemned is not null limit $1::int8) counted),
    coalesce((extract(epoch from now() - (
        select min(c.kept_until) from blob_contents c where c.state <> 2 and c.kept_until <= now())) * 1000000)::int8, 0),
    (select count(*) from (
        select from blob_strays s where s.due <= now() limit $1::int8) counted)
