-- SPDX-License-Identifier: Apache-2.0
-- What nothing owns: rows that no work that is open, and no retention, will ever remove. Two columns, "<table>: <what>" and how
-- many; every table of the schema is named. At rest each count is 0; work that is on its way may need some seconds for that.
-- tests/support/python/tavola_test/audit.py runs it.

-- The indexes that a manifest names (domain/indexes/index_plan.c: a version byte, then per entry its index, two counted keys and
-- eight bytes).
create function pg_temp.varint(bytes bytea, inout at int, out number bigint) language plpgsql as $$
declare
    shift int := 0;
begin
    number := 0;
    loop
        number := number | ((get_byte(bytes, at) & 127)::bigint << shift);
        at := at + 1;
        exit when get_byte(bytes, at - 1) < 128;
        shift := shift + 7;
    end loop;
end $$;
create function pg_temp.indexes_named(manifest bytea) returns setof bigint language plpgsql as $$
declare
    at int := 1;
    number bigint;
begin
    while at < length(manifest) loop
        select v.at, v.number into at, number from pg_temp.varint(manifest, at) v;
        return next number;
        for part in 1..2 loop
            select v.at + v.number, v.number into at, number from pg_temp.varint(manifest, at) v;
        end loop;
        at := at + 8;
    end loop;
end $$;

with running as (
    select * from operations where state in (1, 2)
), living as (
    select * from entities where not dead
)
select 'tables: deleted, and no job purges them', count(*)
from tables t
where not live and not exists (
    select from running o
    where (o.kind = 'delete_table' and o.table_id = t.table_id) or (o.kind = 'drop_index' and o.index_id = t.table_id))
union all
select 'tables: for the entries of no index', count(*)
from tables t where index_id is not null and not exists (select from indexes i where i.index_id = t.table_id)
union all
select 'entities: of no table', count(*)
from entities e where not exists (select from tables t where t.table_id = e.table_id)
union all
select 'entity_parts: of no entity that is spread', count(*)
from entity_parts p where not exists (
    select from living e
    where (e.table_id, e.partition_key, e.row_key, e.bucket) = (p.table_id, p.partition_key, p.row_key, p.bucket) and e.spread is not null)
union all
select 'entities: spread over parts that do not add up', count(*)
from entities e
where spread is not null and (octet_length(e.properties) > 0 or e.dead or spread is distinct from (
    select sum(octet_length(p.properties)) from entity_parts p
    where (p.table_id, p.partition_key, p.row_key, p.bucket) = (e.table_id, e.partition_key, e.row_key, e.bucket)))
union all
select 'indexes: of no table', count(*)
from indexes i where state <> 4 and not exists (select from tables t where t.live and t.table_id = i.source_table_id)
union all
select 'indexes: without a table for their entries', count(*)
from indexes i where state <> 4 and not exists (select from tables t where t.live and t.table_id = i.index_id)
union all
select 'indexes: dropped, and no job purges them', count(*)
from indexes i
where state = 4 and not exists (select from running o where o.kind = 'drop_index' and o.index_id = i.index_id)
union all
select 'operations: running on nothing', count(*)
from running o
where case when kind in ('build', 'drop_index') then not exists (select from indexes i where i.index_id = o.index_id)
           else not exists (select from tables t where t.table_id = o.table_id) end
union all
select 'audit_records: of an unknown credential', count(*) from audit_records where credential not between 0 and 3
union all
select 'index_scrubs: of no index', count(*)
from index_scrubs s where not exists (select from indexes i where i.index_id = s.index_id)
union all
select 'unique_owners: of no index', count(*)
from unique_owners o where not exists (select from indexes i where i.index_id = o.index_id)
union all
select 'unique_owners: absent entities', count(*)
from unique_owners o join indexes i using (index_id)
where i.state <> 4 and not exists (
    select from living e
    where (e.table_id, e.partition_key, e.row_key) = (i.source_table_id, o.partition_key, o.row_key))
union all
select 'unique_owners: more or fewer than entries, with nothing open', coalesce(sum(abs(
    (select count(*) from unique_owners o where o.index_id = u.index_id)
    - (select count(*) from living e where e.table_id = u.index_id))), 0)::int8
from (select index_id, source_table_id from indexes i
    where state = 3 and exists (select from unique_owners o where o.index_id = i.index_id)) u
where not exists (select from intents t where t.table_id = u.source_table_id)
union all
select 'index_reports: of no index', count(*)
from index_reports r where not exists (select from indexes i where i.index_id = r.index_id)
union all
select 'index_differences: of no report', count(*)
from index_differences d where not exists (select from index_reports r where r.operation_id = d.operation_id)
union all
select 'blobs: whose content is not current', count(*)
from blobs b where not exists (select from blob_contents c where (c.account, c.content_id, c.state) = (b.account, b.content_id, 2))
union all
select 'blob_contents: current, and no blob points to them, and no entity holds them', count(*)
from blob_contents c
where state = 2 and not exists (select from blobs b where (b.account, b.content_id) = (c.account, c.content_id))
    and not exists (select from blob_references r where (r.account, r.content_id) = (c.account, c.content_id))
union all
select 'blob_contents: of a blob, and held by an entity', count(*)
from blobs b join blob_references r on r.content_id = b.content_id
union all
select 'blob_references: whose content is not current', count(*)
from blob_references r where not exists (
    select from blob_contents c where (c.account, c.content_id, c.state) = (r.account, r.content_id, 2))
union all
select 'blob_references: of entities that do not hold the content', count(*)
from blob_references r
where not exists (
    select from entities e
    where (e.table_id, e.partition_key, e.row_key) = (r.table_id, r.partition_key, r.row_key) and not e.dead
        and position(convert_to('tavola-blob:' || replace(r.content_id::text, '-', ''), 'UTF8') in e.properties) > 0)
    and not exists (
        select from entity_parts p
        where (p.table_id, p.partition_key, p.row_key) = (r.table_id, r.partition_key, r.row_key)
            and position(convert_to('tavola-blob:' || replace(r.content_id::text, '-', ''), 'UTF8') in p.properties) > 0
            and position(uuid_send(r.content_id) in p.contents) > 0)
union all
select 'entities: that hold contents without a reference', count(*)
from entities e join tables t using (table_id)
where t.blob_properties and t.live and not e.dead
    and position(convert_to('tavola-blob:', 'UTF8') in e.properties) > 0
    and not exists (
        select from blob_references r
        where (r.table_id, r.partition_key, r.row_key) = (e.table_id, e.partition_key, e.row_key))
union all
select 'entity_parts: that hold contents without a reference', count(*)
from entity_parts p join tables t using (table_id), generate_series(1, octet_length(p.contents), 16) i
where t.blob_properties and t.live
    and not exists (
        select from blob_references r
        where (r.table_id, r.partition_key, r.row_key) = (p.table_id, p.partition_key, p.row_key)
            and uuid_send(r.content_id) = substring(p.contents from i for 16))
union all
select 'blob_contents: abandoned or discarded, and not collected', count(*)
from blob_contents where state <> 2 and kept_until < now() - interval '2 minutes'
union all
select 'blob_contents: with more or fewer chunks than they need', count(*)
from blob_contents c
where state <> 3 and (size + 262143) / 262144 <> (
    select count(*) from blob_parts p where (p.account, p.content_id) = (c.account, c.content_id))
union all
select 'blob_parts: of no content', count(*)
from blob_parts p where not exists (select from blob_contents c where (c.account, c.content_id) = (p.account, p.content_id))
union all
select 'blob_parts: without their chunk', count(*)
from blob_parts p where not exists (select from blob_chunks k where (k.account, k.digest) = (p.account, p.digest))
union all
select 'blob_chunks: of no content, and not condemned', count(*)
from blob_chunks k
where condemned is null and not exists (select from blob_parts p where (p.account, p.digest) = (k.account, k.digest))
union all
select 'blob_chunks: condemned, and not collected', count(*)
from blob_chunks where condemned < now() - interval '2 minutes'
union all
select 'blob_chunks: with neither bytes nor an object', count(*)
from blob_chunks where (bytes is null) = (object_id is null) or (object_id is null) <> (store = 0)
union all
select 'blob_strays: due, and not removed', count(*)
from blob_strays where due < now() - interval '2 minutes'
union all
select 'blob_strays: that chunks name', count(*)
from blob_strays s join blob_chunks k on k.object_id = s.object_id
union all
select 'intents: of an unknown kind', count(*) from intents where kind not in (1, 2, 3, 4)
union all
select 'intents: of no table', count(*)
from intents i where kind = 1 and not exists (select from tables t where t.table_id = i.table_id)
union all
select 'intents: of unknown keys', count(*)
from intents i
where kind = 1
    and not exists (select from entities e where (e.table_id, e.partition_key, e.row_key) = (i.table_id, i.partition_key, i.row_key))
    and not exists (select from index_state s where (s.table_id, s.partition_key, s.row_key) = (i.table_id, i.partition_key, i.row_key))
union all
select 'intents: of no transaction that goes on', count(*)
from intents i
where kind = 2 and not exists (
    select from transactions t where (t.account, t.txn_id) = (i.partition_key, i.row_key) and t.finished = 0)
union all
select 'intents: of no copy rule', count(*)
from intents i where kind in (3, 4) and not exists (select from indexes x where x.index_id = i.table_id)
union all
select 'copy_visits: of no copy rule', count(*)
from copy_visits v where not exists (select from indexes x where x.index_id = v.index_id)
union all
select 'copy_visits: without an open intent', count(*)
from copy_visits v
where not exists (
        select from intents i
        where i.kind = 4 and (i.table_id, i.partition_key, i.row_key) = (v.index_id, v.partition_key, v.row_key))
    and not exists (
        select from dead_letters d
        where d.kind = 4 and (d.table_id, d.partition_key, d.row_key) = (v.index_id, v.partition_key, v.row_key))
union all
select 'dead_letters: of no copy rule', count(*)
from dead_letters d where kind in (3, 4) and not exists (select from indexes x where x.index_id = d.table_id)
union all
select 'index_state: of no table', count(*)
from index_state s where not exists (select from tables t where t.table_id = s.table_id)
union all
select 'index_state: that name no entry of a living index', count(*)
from index_state s
where not exists (
    select from pg_temp.indexes_named(s.manifest) n join indexes i on i.index_id = n where i.state <> 4)
union all
select 'index_state: of absent entities', count(*)
from index_state s
where not exists (select from living e where (e.table_id, e.partition_key, e.row_key) = (s.table_id, s.partition_key, s.row_key))
    and not exists (select from intents i where (i.table_id, i.partition_key, i.row_key) = (s.table_id, s.partition_key, s.row_key))
    and not exists (
        select from dead_letters d
        where d.kind = 1 and (d.table_id, d.partition_key, d.row_key) = (s.table_id, s.partition_key, s.row_key))
union all
select 'dead_letters: of an unknown kind', count(*) from dead_letters where kind not in (1, 2, 3, 4)
union all
select 'dead_letters: of no table', count(*)
from dead_letters d where kind = 1 and not exists (select from tables t where t.table_id = d.table_id)
union all
select 'dead_letters: of no index', count(*)
from dead_letters d
where kind = 1 and index_id <> 0 and not exists (select from indexes i where i.index_id = d.index_id)
union all
select 'dead_letters: violations of absent entities', count(*)
from dead_letters d
where kind = 1 and index_id <> 0
    and not exists (select from living e where (e.table_id, e.partition_key, e.row_key) = (d.table_id, d.partition_key, d.row_key))
    and not exists (select from intents i where (i.table_id, i.partition_key, i.row_key) = (d.table_id, d.partition_key, d.row_key))
union all
select 'dead_letters: of no transaction', count(*)
from dead_letters d
where kind = 2 and not exists (select from transactions t where (t.account, t.txn_id) = (d.partition_key, d.row_key))
union all
select 'dead_letters: retrying without an open intent', count(*)
from dead_letters d
where not dead and not exists (
    select from intents i
    where i.kind = d.kind and (i.table_id, i.partition_key, i.row_key) = (d.table_id, d.partition_key, d.row_key))
union all
select 'transactions: unfinished without an open intent', count(*)
from transactions t
where finished = 0
    and not exists (select from intents i where i.kind = 2 and (i.partition_key, i.row_key) = (t.account, t.txn_id))
    and not exists (select from dead_letters d where d.kind = 2 and (d.partition_key, d.row_key) = (t.account, t.txn_id))
union all
select 'transactions: with the note of an effect that is not under way', count(*)
from transactions where effect is not null and state not in (2, 6)
union all
select 'appended_files: with more settled than was given away', count(*) from appended_files where settled > size
union all
select 'transaction_keys: of no transaction', count(*)
from transaction_keys k where not exists (select from transactions t where (t.account, t.txn_id) = (k.account, k.txn_id))
union all
select 'requests: that are remembered for more than two days', count(*)
from requests where at < now() - interval '2 days'
union all
select 'commit_markers: older than two hours', count(*)
from commit_markers where at < now() - interval '2 hours'
union all
select 'feeds: that no table keeps', count(*)
from feeds f where not exists (select from tables t where t.live and t.feed_id = f.feed_id)
union all
select 'changes: of no feed', count(*)
from changes c where not exists (select from feeds f where f.feed_id = c.feed_id)
union all
select 'claims: of dead workers, with nothing open', count(*)
from claims c
where expires_at < now() and not exists (select from intents i where i.id = any (c.ids) and i.bucket = any (c.buckets))
union all
select 'apply_rates: not updated for two hours', count(*)
from apply_rates where at < now() - interval '2 hours'
union all
select 'queue_controls: of no queue', count(*)
from queue_controls c where c.queue >= coalesce((select queues from queue_map), 0)
union all
select 'queue_map: one row too many or too few', abs(count(*) - 1) from queue_map
union all
select 'catalogue_changes: of a version that has not been', count(*)
from catalogue_changes where version > coalesce((select version from catalogue), 0)
union all
select 'catalogue: one row too many or too few', abs(count(*) - 1) from catalogue
union all
select 'leases: of no bucket range', count(*) from leases where bucket_range not between 0 and 15
union all
select 'watermarks: of no bucket range', count(*) from watermarks where bucket_range not between 0 and 15
union all
select 'write_fence: it is always empty', count(*) from write_fence
union all
select 'samples: older than any reader needs', count(*) from samples
where at < now() - interval '9 days' or (span < 3 and at < now() - interval '90 minutes')
union all
select 'secrets: of an unknown name', count(*) from secrets where name <> 'token_key'
union all
select 'accounts: without keys', count(*) from accounts where length(first_key) = 0 or length(second_key) = 0
union all
select 'account_usage: less than nothing', count(*) from account_usage where least(entities, entries, bytes) < 0
union all
select 'usage_counts: one row too many or too few', abs(count(*) - 1) from usage_counts
union all
select 'service_properties: of no account', count(*) from service_properties p
where account <> 'default' and not exists (select from accounts a where a.id = p.account)
union all
select 'workers: forgotten ones that stay', count(*) from workers where reported_at < now() - interval '1 day'
