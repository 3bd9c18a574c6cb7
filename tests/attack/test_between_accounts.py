# SPDX-License-Identifier: Apache-2.0
"""What one account with a valid token can do to the others: they are served, and memory stays under the bound."""

import os

from attack_case import AttackCase
from bystander import trusting
from tavola_test import client
from tavola_test.stack import wait_ready
from tavola_test.waiting import wait_for

# A thousand copies of the table "wide" with twenty of its index each: more than a caller may make.
MANY_INDEXES = """
begin;
with source as (
    insert into tables (table_id, account, name, folded, created, live)
    select nextval('table_ids'), t.account, 'many' || n, 'many' || n, t.created, true
    from tables t, generate_series(1, 1000) n where t.name = 'wide'
    returning table_id, account, created),
made as (
    select nextval('table_ids') as index_id, s.table_id, s.account, s.created, 'i' || s.table_id || 'x' || n as name
    from source s, generate_series(1, 20) n),
entries as (
    insert into tables (table_id, account, name, folded, created, live, index_id)
    select index_id, account, name, name, created, true, index_id from made)
insert into indexes (index_id, source_table_id, account, name, folded, state, definition, operation_id)
select m.index_id, m.table_id, m.account, m.name, m.name, 3, i.definition, ''
from made m, indexes i;
update catalogue set version = version + 1;
commit
"""


# Of every index, as writes of so many entities that it cannot hold would make them.
MANY_DEAD_LETTERS = """
insert into dead_letters (bucket, kind, table_id, partition_key, row_key, index_id, dead, failures, cause, history)
select 0, 1, i.source_table_id, 'p', n::text, i.index_id, true, 1, 'Group is a Binary of 2,000 bytes', ''
from indexes i, generate_series(1, {each}) n;
vacuum analyze dead_letters
"""

LOOK_UP = "/tavola.v1.IndexService/LookupIndex"
COUNT = "/tavola.v1.EntityService/CountEntities"
LIST_INDEXES = "/tavola.v1.IndexService/ListIndexes"
BATCH_GET = "/tavola.v1.EntityService/BatchGetEntities"
UPSERT = "/tavola.v1.EntityService/InsertOrReplaceEntity"
EXECUTE_BATCH = "/tavola.v1.EntityService/ExecuteBatch"
COPY, LIST = 1, 2
SAME_PARTITION = 1
PARTITIONS = 3000
MEMBERS = 5000
PAGES = 1000
LOCKED = 64
INDEXES, DEAD_LETTERS = 10, 30_000  # of each index
COUNTED, CHUNK = 100_000, 1000
LARGE = {f"T{part}": "x" * 30_000 for part in range(16)}


class BetweenAccounts(AttackCase):
    def disturbed(self, *words, **more):
        return self.attacked(*words, rate=True, **more)

    def connect_noisy(self, noisy):
        return client.Client(self.address, trusting(*self.trusted), token=noisy, seconds=60)

    def make_ready(self, caller, index):
        caller.create_index(index=index)
        worker = self.stack.start_worker()
        wait_ready(caller, index["name"])
        worker.stop()

    def attacked_by_calls(self, noisy, path, at_once, *requests, **more):
        files = []
        for number, request in enumerate(requests):
            files.append(os.path.join(self.stack.folder, f"request{number}"))
            with open(files[-1], "wb") as out:
                out.write(request.SerializeToString())
        numbers = self.disturbed("prepared_calls", noisy, path, str(at_once), *files, **more)
        self.assertGreater(sum(done["requests"] for done in numbers["attack"]), 0)

    def test_h1_one_consistency_token_a_hundred_times(self):
        """The token of an import into thousands of partitions, so it names all buckets of the table."""
        self.start()
        noisy = self.prepare_noisy()
        with self.connect_noisy(noisy) as caller:
            # Without a worker the index stays behind, so look-ups wait and look again.
            self.make_ready(caller, {"name": "byGroup", "table": "wide", "shape": COPY, "partition_key": [{"property": "Group"}]})
            entities = [client.entity(f"p{n}", "r", Group="g") for n in range(PARTITIONS)]
            chunk = client.ImportEntitiesRequest(table="wide", entities=entities)
            token = max((reply.consistency_token for reply in caller.import_entities([chunk])), key=len)
        self.assertGreater(len(token), 100)
        request = client.types.message("tavola.v1.LookupIndexRequest")(
            index="byGroup", equals=[client.value("g")], freshness={"at_least": [token] * 100})
        self.attacked_by_calls(noisy, LOOK_UP, 32, request)

    def test_h4_a_thousand_list_pages(self):
        """Each with some thousand members."""
        self.start()
        noisy = self.prepare_noisy()
        with self.connect_noisy(noisy) as caller:
            self.make_ready(caller, {"name": "byGroup", "table": "wide", "shape": LIST, "place": SAME_PARTITION,
                                     "partition_key": [{"property": "PartitionKey"}], "row_key": [{"property": "Group"}]})
            entities = [client.entity("list", f"{n:05}", Group="g") for n in range(MEMBERS)]
            chunks = [client.ImportEntitiesRequest(table="wide", entities=entities[at : at + 500]) for at in range(0, MEMBERS, 500)]
            list(caller.import_entities(chunks))
        keys = self.stack.sql("select e.row_key from entities e join tables t using (table_id) where t.index_id is not null "
                              f"order by e.row_key limit {PAGES}").splitlines()
        self.assertEqual(len(keys), PAGES)
        request = client.types.message("tavola.v1.BatchGetEntitiesRequest")(
            table="byGroup", keys=[{"partition_key": "list", "row_key": key} for key in keys])
        self.attacked_by_calls(noisy, BATCH_GET, 8, request)

    def test_rows_that_a_transaction_keeps_locked(self):
        """Writes to them, more than there are threads and connections; others write."""
        self.start()
        noisy = self.prepare_noisy()
        entities = [client.entity("locked", f"{number:02}", A=1) for number in range(LOCKED)]
        with self.connect_noisy(noisy) as caller:
            for entity in entities:
                caller.insert_entity(table="wide", entity=entity)
        request = client.types.message("tavola.v1.InsertOrReplaceEntityRequest")
        with self.stack.holding("select count(*) from (select from entities where partition_key = 'locked' for update) held"):
            self.attacked_by_calls(
                noisy, UPSERT, LOCKED, *(request(table="wide", entity=entity) for entity in entities), method="upsert")
        with self.connect_noisy(noisy) as caller:
            for entity in entities:
                caller.insert_or_replace_entity(table="wide", entity=entity)

    def attacked_by_groups(self, groups, at_once):
        """ExecuteBatch with each list of entities; others write."""
        self.start()
        noisy = self.prepare_noisy()
        request = client.types.message("tavola.v1.ExecuteBatchRequest")
        requests = [request(table="wide", operations=[{"insert_or_replace": entity} for entity in entities]) for entities in groups]
        with self.connect_noisy(noisy) as caller:
            for made in requests:
                caller.raw(EXECUTE_BATCH, made.SerializeToString())
        self.attacked_by_calls(noisy, EXECUTE_BATCH, at_once, *requests, method="upsert")

    def test_groups_of_large_writes(self):
        self.attacked_by_groups([[client.entity(f"p{group}", f"{number}", **LARGE) for number in range(4)] for group in range(8)], 8)

    def test_large_writes(self):
        self.attacked_by_groups([[client.entity(f"p{group}", "r", **LARGE)] for group in range(16)], 16)

    def test_groups_of_many_writes(self):
        self.attacked_by_groups([[client.entity(f"p{group}", f"{number}", A=1) for number in range(100)] for group in range(64)], 64)

    def test_counts_of_many_entities(self):
        """Others ask for pages, which wait in the same lane: such a count takes some hundredths of a second."""
        self.start()
        noisy = self.prepare_noisy()
        with self.connect_noisy(noisy) as caller:
            for first in range(0, COUNTED, CHUNK):
                entities = [client.entity("counted", f"{number:06}", A=1) for number in range(first, first + CHUNK)]
                list(caller.import_entities([client.ImportEntitiesRequest(table="wide", entities=entities)]))
        request = client.types.message("tavola.v1.CountEntitiesRequest")(query={"table": "wide"})
        self.attacked_by_calls(noisy, COUNT, 8, request, method="page")

    def test_lists_of_indexes_with_many_dead_letters(self):
        """Others ask for pages. The views of these indexes count, so they must not run where pages wait."""
        self.start()
        noisy = self.prepare_noisy()
        with self.connect_noisy(noisy) as caller:
            for number in range(INDEXES):
                self.make_ready(caller, {"name": f"byGroup{number}", "table": "wide", "shape": COPY, "partition_key": [{"property": "Group"}]})
        for statement in MANY_DEAD_LETTERS.format(each=DEAD_LETTERS).split(";"):
            self.stack.sql(statement)
        self.attacked_by_calls(noisy, LIST_INDEXES, 8, client.types.message("tavola.v1.ListIndexesRequest")(), method="page")

    def test_h2_many_small_elements(self):
        self.start()
        self.disturbed("many_elements", self.prepare_noisy())

    def test_h3_long_filters(self):
        self.start()
        self.disturbed("long_filters", self.prepare_noisy())

    def test_h5_many_indexes(self):
        """A thousand tables with twenty indexes each, and more tables all the time."""
        self.start()
        noisy = self.prepare_noisy()
        self.prepare_indexes(noisy)
        wait_for("the indexes", lambda: self.is_served("ListTables"), 30)
        self.disturbed("make_tables", noisy)

    def prepare_indexes(self, noisy):
        """Copies of one table with one index, as rows of the database: callers could not pass their quota."""
        with client.Client(self.address, token=noisy, seconds=20) as caller:
            caller.create_index(index={"name": "byText", "table": "wide", "shape": 1, "partition_key": [{"property": "T0"}]})
        self.stack.sql(MANY_INDEXES)

    def test_h6_unread_pages(self):
        self.start()
        self.disturbed("unread_pages", self.prepare_noisy())

    def test_c6_compressed_requests_of_a_known_caller(self):
        self.start()
        self.disturbed("known_compressed", self.prepare_noisy())
