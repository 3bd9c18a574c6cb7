# SPDX-License-Identifier: Apache-2.0
"""Every method of every service with its main outcomes, called from another language."""

import json
import unittest
import uuid

from tavola_test import client
from tavola_test.case import ServerCase
from tavola_test.client import BatchOperation, ImportEntitiesRequest, contents, entity, int32, key, match, plain, types
from tavola_test.waiting import wait_for

READY, DONE = 3, 3
COPY, LIST = 1, 2


def names_of(entities):
    return [(found.partition_key, found.row_key) for found in entities]


class Tables(ServerCase):
    def test_create_get_list_delete(self):
        created = self.client.create_table(name="Walk").table
        self.assertEqual(created.name, "Walk")
        self.assertGreater(created.created.seconds, 1_700_000_000)
        self.assertEqual(self.client.get_table(name="wALK").table, created)
        self.refused("ALREADY_EXISTS", "TABLE_ALREADY_EXISTS", self.client.create_table, name="WALK")
        self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.client.get_table, name="NoSuch")
        operation = self.client.delete_table(name="walk").operation
        self.assertEqual((operation.kind, operation.target), ("delete_table", "Walk"))
        self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.client.get_table, name="Walk")
        self.refused("NOT_FOUND", "RESOURCE_NOT_FOUND", self.client.delete_table, name="Walk")
        self.client.create_table(name="walk")

    def test_a_new_table_of_an_old_name_is_empty(self):
        table = self.new_table()
        old = self.client.insert_entity(table=table, entity=entity("p", "r", A="old")).result
        self.client.delete_table(name=table)
        self.client.create_table(name=table)
        self.assertFalse(self.is_there(table, "p", "r"))
        self.assertEqual(self.client.query(table), [])
        self.client.insert_entity(table=table, entity=entity("p", "r", A="new"))
        self.refused(
            "ABORTED",
            "UPDATE_CONDITION_NOT_SATISFIED",
            self.client.delete_entity,
            table=table,
            key=key(("p", "r")),
            precondition=match(old.etag),
        )

    def test_list_is_in_order_and_pages_to_the_end(self):
        for name in ("Zeta", "alpha", "Beta", "beta2", "ALPHA1"):
            self.client.create_table(name=name)
        expected = ["alpha", "ALPHA1", "Beta", "beta2", "Zeta"]
        for size in (1, 2, 1000, 0, 5000):
            pages = list(self.client.pages(self.client.list_tables, page_size=size))
            names = [table.name for page in pages for table in page.tables]
            self.assertEqual([name for name in names if name in expected], expected)
            if 0 < size <= 2:
                self.assertTrue(all(len(page.tables) <= size for page in pages))
        for name in expected:
            self.client.delete_table(name=name)


class SingleWrites(ServerCase):
    def setUp(self):
        self.table = self.new_table()

    def write(self, method, row, properties, **more):
        return method(table=self.table, entity=entity("p", row, properties), **more).result

    def test_insert(self):
        result = self.write(self.client.insert_entity, "r", {"A": 1})
        stored = self.get(self.table, "p", "r")
        self.assertEqual((stored.etag, stored.timestamp), (result.etag, result.timestamp))
        self.assertRegex(result.etag, r'^W/"[\x21\x23-\x7e]+"$')
        self.assertLessEqual(len(result.etag), 64)
        error = self.refused(
            "ALREADY_EXISTS", "ENTITY_ALREADY_EXISTS", self.write, self.client.insert_entity, "r", {"A": 2}
        )
        self.assertEqual(error.metadata, {"table": self.table, "partition_key": "p", "row_key": "r"})
        self.assertEqual(plain(self.get(self.table, "p", "r")), {"A": 1})

    def test_replace_removes_what_is_not_named_and_merge_keeps_it(self):
        etags = [self.write(self.client.insert_entity, "r", {"A": 1, "B": "b"}).etag]
        etags.append(self.write(self.client.merge_entity, "r", {"A": 2.5, "C": True}, precondition=match(etags[0])).etag)
        self.assertEqual(plain(self.get(self.table, "p", "r")), {"A": 2.5, "B": "b", "C": True})
        etags.append(self.write(self.client.replace_entity, "r", {"D": b"d"}, precondition=match(etags[1])).etag)
        self.assertEqual(plain(self.get(self.table, "p", "r")), {"D": b"d"})
        etags.append(self.write(self.client.replace_entity, "r", {"D": b"d"}, precondition=match()).etag)
        etags.append(self.write(self.client.merge_entity, "r", {}, precondition=match()).etag)
        self.assertEqual(len(set(etags)), len(etags), "each write has a new ETag")
        for method in (self.client.replace_entity, self.client.merge_entity):
            self.refused(
                "ABORTED",
                "UPDATE_CONDITION_NOT_SATISFIED",
                self.write,
                method,
                "r",
                {"E": 1},
                precondition=match(etags[0]),
            )
            for etag in ("*", etags[0]):
                self.refused(
                    "NOT_FOUND", "RESOURCE_NOT_FOUND", self.write, method, "no", {}, precondition=match(etag)
                )
        self.assertEqual(plain(self.get(self.table, "p", "r")), {"D": b"d"})

    def test_an_etag_is_of_one_entity(self):
        """Callers mix up variables: the ETag of another entity with as many writes must not match this one."""
        etags = {row: self.write(self.client.insert_entity, row, {"A": 1}).etag for row in "abc"}
        self.assertEqual(len(set(etags.values())), 3)
        for row, etag in etags.items():
            self.assertEqual(self.get(self.table, "p", row).etag, etag)
        for found in self.client.query(self.table):
            self.assertEqual(found.etag, etags[found.row_key])
        for method in (self.client.replace_entity, self.client.merge_entity):
            error = self.refused("ABORTED", "UPDATE_CONDITION_NOT_SATISFIED", self.write, method, "a", {}, precondition=match(etags["b"]))
            self.assertEqual(error.metadata["actual"], etags["a"])
        self.write(self.client.replace_entity, "a", {"A": 2}, precondition=match(etags["a"]))

    def test_an_etag_from_before_there_was_a_digest(self):
        """An ETag of two parts: it is compared by table and version, as in earlier versions."""
        etag = self.write(self.client.insert_entity, "r", {"A": 1}).etag
        old = ".".join(etag.split(".")[:2]) + '"'
        self.write(self.client.replace_entity, "r", {"A": 2}, precondition=match(old))
        self.refused("ABORTED", "UPDATE_CONDITION_NOT_SATISFIED", self.write, self.client.replace_entity, "r", {}, precondition=match(old))

    def test_upserts(self):
        self.write(self.client.insert_or_replace_entity, "r", {"A": 1})
        self.write(self.client.insert_or_merge_entity, "r", {"B": 2})
        self.assertEqual(plain(self.get(self.table, "p", "r")), {"A": 1, "B": 2})
        self.write(self.client.insert_or_replace_entity, "r", {"C": 3})
        self.assertEqual(plain(self.get(self.table, "p", "r")), {"C": 3})
        self.write(self.client.insert_or_merge_entity, "s", {"D": 4})
        self.assertEqual(plain(self.get(self.table, "p", "s")), {"D": 4})

    def test_null_is_not_there(self):
        self.write(self.client.insert_entity, "r", {"A": 1, "B": None})
        self.assertEqual(plain(self.get(self.table, "p", "r")), {"A": 1})
        self.write(self.client.merge_entity, "r", {"A": None, "C": 3}, precondition=match())
        self.assertEqual(plain(self.get(self.table, "p", "r")), {"A": 1, "C": 3})
        self.write(self.client.replace_entity, "r", {"A": None, "C": 3}, precondition=match())
        self.assertEqual(plain(self.get(self.table, "p", "r")), {"C": 3})

    def test_delete(self):
        address = key(("p", "r"))
        etag = self.write(self.client.insert_entity, "r", {"A": 1}).etag
        newer = self.write(self.client.insert_or_merge_entity, "r", {"B": 1}).etag
        call = self.client.delete_entity
        self.refused(
            "ABORTED",
            "UPDATE_CONDITION_NOT_SATISFIED",
            call,
            table=self.table,
            key=address,
            precondition=match(etag),
        )
        result = call(table=self.table, key=address, precondition=match(newer)).result
        self.assertEqual((result.etag, result.HasField("timestamp")), ("", False))
        for etag in ("*", newer):
            self.refused(
                "NOT_FOUND", "RESOURCE_NOT_FOUND", call, table=self.table, key=address, precondition=match(etag)
            )
        again = self.write(self.client.insert_entity, "r", {"A": 1})
        self.assertNotIn(again.etag, (etag, newer), "an ETag never returns")
        call(table=self.table, key=address, precondition=match())
        self.assertFalse(self.is_there(self.table, "p", "r"))

    def test_a_missing_table(self):
        some, address = entity("p", "r"), key(("p", "r"))
        for method in ("insert_entity", "insert_or_replace_entity", "insert_or_merge_entity"):
            self.refused("NOT_FOUND", "TABLE_NOT_FOUND", getattr(self.client, method), table="none", entity=some)
        for method in ("replace_entity", "merge_entity"):
            call = getattr(self.client, method)
            self.refused("NOT_FOUND", "TABLE_NOT_FOUND", call, table="none", entity=some, precondition=match())
        self.refused(
            "NOT_FOUND",
            "TABLE_NOT_FOUND",
            self.client.delete_entity,
            table="none",
            key=address,
            precondition=match(),
        )
        self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.client.get_entity, table="none", key=address)
        self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.client.query_entities, query={"table": "none"})
        self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.client.batch_get_entities, table="none", keys=[address])
        operations = [BatchOperation(insert=some)]
        self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.client.execute_batch, table="none", operations=operations)
        self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.client.load, "none", [some])

    def test_timestamps_grow(self):
        stamps = []
        for number in range(20):
            stamp = self.write(self.client.insert_or_replace_entity, "r", {"N": number}).timestamp
            stamps.append((stamp.seconds, stamp.nanos))
        self.assertEqual(stamps, sorted(set(stamps)))


class Batches(ServerCase):
    def setUp(self):
        self.table = self.new_table()
        self.call = lambda operations: self.client.execute_batch(table=self.table, operations=operations)

    def test_all_six_writes_at_once(self):
        for row in ("replaced", "merged", "deleted", "upserted"):
            self.client.insert_entity(table=self.table, entity=entity("p", row, Old=1))
        results = self.call(
            [
                BatchOperation(insert=entity("p", "inserted", A=1)),
                BatchOperation(replace=entity("p", "replaced", A=2), precondition=match()),
                BatchOperation(merge=entity("p", "merged", A=3), precondition=match()),
                BatchOperation(insert_or_replace=entity("p", "upserted", A=4)),
                BatchOperation(insert_or_merge=entity("p", "new", A=5)),
                BatchOperation(delete=key(("p", "deleted")), precondition=match()),
            ]
        ).results
        found = {stored.row_key: stored for stored in self.client.query(self.table)}
        self.assertEqual(
            {row: plain(stored) for row, stored in found.items()},
            {
                "inserted": {"A": 1},
                "replaced": {"A": 2},
                "merged": {"Old": 1, "A": 3},
                "upserted": {"A": 4},
                "new": {"A": 5},
            },
        )
        rows = ["inserted", "replaced", "merged", "upserted", "new"]
        self.assertEqual([result.etag for result in results], [found[row].etag for row in rows] + [""])

    def test_nothing_happens_when_one_write_fails(self):
        self.client.insert_entity(table=self.table, entity=entity("p", "there", A=1))
        before = self.client.query(self.table)
        good = [BatchOperation(insert_or_replace=entity("p", f"r{number}", A=2)) for number in range(5)]
        etag = match('W/"wrong"')
        for bad, code, reason in (
            (BatchOperation(insert=entity("p", "there")), "ALREADY_EXISTS", "ENTITY_ALREADY_EXISTS"),
            (BatchOperation(delete=key(("p", "no")), precondition=match()), "NOT_FOUND", "RESOURCE_NOT_FOUND"),
            (BatchOperation(merge=entity("p", "no"), precondition=match()), "NOT_FOUND", "RESOURCE_NOT_FOUND"),
            (BatchOperation(replace=entity("p", "there"), precondition=etag), "ABORTED", "UPDATE_CONDITION_NOT_SATISFIED"),
            (BatchOperation(insert=entity("q", "r")), "INVALID_ARGUMENT", "COMMANDS_IN_BATCH_ACT_ON_DIFFERENT_PARTITIONS"),
            (BatchOperation(insert=entity("p", "r1")), "INVALID_ARGUMENT", "INVALID_DUPLICATE_ROW"),
            (BatchOperation(insert=entity("p", "a/b")), "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT"),
            (BatchOperation(merge=entity("p", "there")), "INVALID_ARGUMENT", "INVALID_INPUT"),
            (BatchOperation(insert=entity("p", "x"), precondition=match()), "INVALID_ARGUMENT", "INVALID_INPUT"),
            (BatchOperation(), "INVALID_ARGUMENT", "INVALID_INPUT"),
        ):
            for at in (3, 5):
                error = self.refused(code, reason, self.call, good[:at] + [bad] + good[at:])
                self.assertEqual(error.metadata["operation_index"], str(at), error)
                self.assertTrue(error.message.startswith(f"{at}:"), error.message)
                self.assertEqual(self.client.query(self.table), before)


class Reads(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.table = "reads"
        cls.client.create_table(name=cls.table)
        cls.keys = [(f"p{p}", f"r{r:02}") for p in range(3) for r in range(8)] + [("", ""), ("é😀", "%'ü")]
        cls.client.load(cls.table, [entity(p, r, P=p, R=r, N=int32(len(r))) for p, r in cls.keys])
        cls.keys.sort(key=lambda each: (each[0].encode(), each[1].encode()))

    def test_get(self):
        for partition_key, row_key in self.keys:
            found = self.get(self.table, partition_key, row_key)
            self.assertEqual(plain(found), {"P": partition_key, "R": row_key, "N": len(row_key)})
        error = self.refused("NOT_FOUND", "RESOURCE_NOT_FOUND", self.get, self.table, "p0", "no")
        self.assertEqual(error.metadata["row_key"], "no")

    def test_select(self):
        chosen = {"select": ["R", "None"]}
        found = self.get(self.table, "p1", "r01", options=chosen)
        self.assertEqual(plain(found), {"R": "r01"})
        self.assertTrue(found.etag and found.timestamp.seconds and found.partition_key and found.row_key)
        page = self.client.query(self.table, "PartitionKey eq 'p1'", options=chosen)
        self.assertEqual([plain(found) for found in page], [{"R": f"r{r:02}"} for r in range(8)])
        reply = self.client.batch_get_entities(table=self.table, keys=[key(("p1", "r01"))], options=chosen)
        self.assertEqual(plain(reply.results[0].entity), {"R": "r01"})

    def test_batch_get(self):
        asked = [("p2", "r07"), ("p0", "none"), ("", ""), ("p2", "r07")]
        reply = self.client.batch_get_entities(table=self.table, keys=[key(each) for each in asked])
        kinds = [result.WhichOneof("outcome") for result in reply.results]
        self.assertEqual(kinds, ["entity", "error", "entity", "entity"])
        self.assertEqual(names_of(result.entity for result in (reply.results[0], reply.results[3])), [asked[0]] * 2)
        self.assertEqual((reply.results[1].error.code, reply.results[1].error.reason), (5, "RESOURCE_NOT_FOUND"))

    def test_batch_get_asks_again_for_what_did_not_fit(self):
        table = self.new_table()
        self.client.load(table, [entity("p", str(n), A=b"a" * 60000, B=b"b" * 60000, N=n) for n in range(30)])
        asked = [("p", str(n)) for n in range(30)]
        found, calls = [], 0
        while len(found) < len(asked):
            rest = [key(each) for each in asked[len(found) :]]
            results = self.client.batch_get_entities(table=table, keys=rest).results
            self.assertTrue(results)
            found += [result.entity for result in results]
            calls += 1
        self.assertEqual(names_of(found), asked)
        self.assertGreater(calls, 1)

    def test_query_pages_to_the_end(self):
        for size in (1, 2, 7, len(self.keys), 0, 1001):
            pages = list(self.client.pages(self.client.query_entities, query={"table": self.table}, page_size=size))
            self.assertEqual(names_of(found for page in pages for found in page.entities), self.keys)
            self.assertTrue(all(len(page.entities) <= (size or 1000) for page in pages))
        one = self.client.query_entities(query={"table": self.table}, page_size=3)
        self.assertEqual((one.stats.access_path, one.stats.rows_returned), (5, 3))
        self.assertGreater(one.stats.bytes_returned, 0)

    def test_query_ranges(self):
        for text, condition, path in (
            ("PartitionKey eq 'p1'", lambda p, r: p == "p1", 4),
            ("PartitionKey eq 'p1' and RowKey eq 'r03'", lambda p, r: (p, r) == ("p1", "r03"), 1),
            ("PartitionKey eq 'p1' and RowKey ge 'r03' and RowKey lt 'r06'", lambda p, r: p == "p1" and "r03" <= r < "r06", 2),
            ("PartitionKey gt 'p0' and PartitionKey le 'p2'", lambda p, r: "p0" < p <= "p2", 5),
            ("RowKey eq 'r03'", lambda p, r: r == "r03", 5),
            ("(PartitionKey eq 'p1') and ('r06' lt RowKey)", lambda p, r: p == "p1" and "r06" < r, 2),
            ("PartitionKey eq 'é😀' and RowKey eq '%''ü'", lambda p, r: p == "é😀", 1),
            ("PartitionKey eq 'p1' and PartitionKey eq 'p2'", lambda p, r: False, None),
            ("", lambda p, r: True, 5),
        ):
            with self.subTest(text):
                expected = [each for each in self.keys if condition(*each)]
                for size in (1, 4, 0):
                    self.assertEqual(names_of(self.client.query(self.table, text, page_size=size)), expected)
                if path:
                    reply = self.client.query_entities(query={"table": self.table, "filter": text})
                    self.assertEqual(reply.stats.access_path, path)

    def test_pages_of_large_entities_end_early(self):
        table = self.new_table()
        self.client.load(table, [entity("p", f"{n:03}", A=b"a" * 60000, N=n) for n in range(60)])
        huge = {f"P{n}": b"x" * 65000 for n in range(16)}
        self.client.insert_entity(table=table, entity=entity("p", "999", huge))
        pages = list(self.client.pages(self.client.query_entities, query={"table": table}))
        self.assertGreater(len(pages), 1)
        self.assertTrue(all(page.ByteSize() <= 3 * 1024 * 1024 for page in pages))
        rows = [found.row_key for page in pages for found in page.entities]
        self.assertEqual(rows, [f"{n:03}" for n in range(60)] + ["999"])

    def test_paging_goes_on_where_it_was_when_rows_come_and_go(self):
        table = self.new_table()
        self.client.load(table, [entity("p", f"{n}") for n in range(1, 8, 2)])
        first = self.client.query_entities(query={"table": table}, page_size=2)
        self.client.delete_entity(table=table, key=key(("p", "3")), precondition=match())
        self.client.load(table, [entity("p", "0"), entity("p", "4")])
        second = self.client.query_entities(query={"table": table}, page_token=first.next_page_token)
        self.assertEqual([found.row_key for found in second.entities], ["4", "5", "7"])


class Import(ServerCase):
    def test_messages_are_answered_as_they_are_committed(self):
        table = self.new_table()
        messages = [
            ImportEntitiesRequest(table=table, entities=[entity("p", f"{m}-{n}", N=n) for n in range(50)])
            for m in range(4)
        ]
        messages[1].table = ""
        replies = []
        send = iter(messages)

        def one_at_a_time():
            for number, message in enumerate(send):
                self.assertEqual(len(replies), number, "the next message waits for the answer")
                yield message
                wait_for("the answer", lambda: len(replies) > number)

        for reply in self.client.import_entities(one_at_a_time()):
            self.assertEqual(len(self.client.query(table)), reply.committed)
            replies.append(reply)
        self.assertEqual([reply.committed for reply in replies], [50, 100, 150, 200])

    def test_each_entity_stands_or_falls_alone(self):
        table = self.new_table()
        good = [entity("p", str(n), N=n) for n in range(4)]
        messages = [
            ImportEntitiesRequest(table=table, entities=good[:2]),
            ImportEntitiesRequest(entities=[entity("p", "a/b"), good[2], entity("p", "x", {"1": 1}), good[3]]),
        ]
        replies = list(self.client.import_entities(messages))
        self.assertEqual([reply.committed for reply in replies], [2, 4])
        rejected = [(r.position, r.key.row_key, r.error.code, r.error.reason) for r in replies[1].rejected]
        self.assertEqual(rejected, [(2, "a/b", 11, "OUT_OF_RANGE_INPUT"), (4, "x", 3, "PROPERTY_NAME_INVALID")])
        self.assertEqual([found.row_key for found in self.client.query(table)], ["0", "1", "2", "3"])

    def test_the_last_of_equal_keys_wins(self):
        table = self.new_table()
        self.client.load(table, [entity("p", "r", N=n) for n in range(5)])
        self.assertEqual(plain(self.get(table, "p", "r")), {"N": 4})

    def test_a_stream_without_messages(self):
        self.assertEqual(list(self.client.import_entities([])), [])

    def test_one_table_per_stream(self):
        one, other = self.new_table(), self.new_table()
        messages = [ImportEntitiesRequest(table=name, entities=[entity("p", "r")]) for name in (one, other)]
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", lambda: list(self.client.import_entities(messages)))
        self.assertFalse(self.is_there(other, "p", "r"))


class Indexes(ServerCase):
    with_worker = True

    def source(self, count=30):
        table = self.new_table()
        self.client.load(table, [self.item(number) for number in range(count)])
        return table

    @staticmethod
    def item(number, **more):
        properties = {"Maintainer": f"M/{number % 3}", "Size": number % 5, "Note": f"n{number}", **more}
        return entity(f"s{number % 2}", f"{number:03}", properties)

    def create(self, table, **fields):
        name = self.new_name("Idx")
        fields = {"shape": COPY, "partition_key": [{"property": "Maintainer"}], **fields}
        reply = self.client.create_index(index={"name": name, "table": table, **fields})
        self.assertEqual((reply.index.name, reply.index.table), (name, table))
        return name, reply

    def converges(self, name, values, expected):
        """Look-ups return these keys, at the latest when the lag is gone."""
        wait_for(
            f"{name} {values}: {expected}", lambda: names_of(self.client.lookup(name, values)) == sorted(expected)
        )

    def test_life_cycle(self):
        table = self.source()
        name, reply = self.create(table)
        self.assertIn(reply.status.state, (1, 2, 3))
        self.refused(
            "ALREADY_EXISTS",
            "INDEX_EXISTS",
            self.client.create_index,
            index={"name": name.upper(), "table": table, "shape": COPY, "partition_key": [{"property": "Size"}]},
        )
        operation = self.wait_done(reply.status.build)
        self.assertEqual((operation.kind, operation.target), ("build", name))
        self.wait_ready(name)
        status = self.client.get_index(name=name.lower()).status
        self.assertEqual((status.state, status.entries, status.violations), (READY, 30, 0))
        self.assertEqual((status.lag.open_intents, status.lag.age.seconds), (0, 0))
        self.assertGreater(status.lag.as_of.seconds, 1_700_000_000)
        self.assertIn(name, [each.index.name for each in self.client.list_indexes().indexes])
        self.assertEqual(self.client.get_table(name=name).table.index, name)
        self.assertEqual(len(self.client.query(name)), 30)

        dropping = self.client.drop_index(name=name).operation
        self.assertEqual(dropping.kind, "drop_index")
        self.refused("NOT_FOUND", "INDEX_NOT_FOUND", self.client.get_index, name=name)
        self.refused("NOT_FOUND", "INDEX_NOT_FOUND", self.client.lookup, name, ["M/1"])
        self.wait_done(dropping)
        self.assertEqual(self.stack.sql(f"select count(*) from entities e join tables t using (table_id) where t.name = '{name}'"), "0")
        again, reply = self.create(table)
        self.wait_done(reply.status.build)

    def test_copy_follows_every_kind_of_write(self):
        table = self.source(6)
        name, _ = self.create(table)
        self.wait_ready(name)
        self.converges(name, ["M/1"], [("s1", "001"), ("s0", "004")])
        self.client.insert_entity(table=table, entity=self.item(7))
        self.converges(name, ["M/1"], [("s1", "001"), ("s0", "004"), ("s1", "007")])
        self.client.merge_entity(table=table, entity=entity("s1", "007", Maintainer="M/2"), precondition=match())
        self.converges(name, ["M/1"], [("s1", "001"), ("s0", "004")])
        self.converges(name, ["M/2"], [("s0", "002"), ("s1", "005"), ("s1", "007")])
        self.client.replace_entity(table=table, entity=entity("s1", "007", Other=1), precondition=match())
        self.converges(name, ["M/2"], [("s0", "002"), ("s1", "005")])
        self.client.delete_entity(table=table, key=key(("s1", "005")), precondition=match())
        self.converges(name, ["M/2"], [("s0", "002")])
        self.client.insert_entity(table=table, entity=self.item(5))
        self.converges(name, ["M/2"], [("s0", "002"), ("s1", "005")])
        operations = [BatchOperation(insert_or_replace=entity("s0", row, Maintainer="M/9")) for row in ("a", "b")]
        self.client.execute_batch(table=table, operations=operations)
        self.converges(name, ["M/9"], [("s0", "a"), ("s0", "b")])

    def test_lookup_gives_entities_keys_or_entries(self):
        table = self.source()
        name, _ = self.create(table, row_key=[{"property": "Size"}, {"property": "RowKey"}, {"property": "PartitionKey"}])
        self.wait_ready(name)
        expected = sorted((n % 5, f"{n:03}", f"s{n % 2}") for n in range(1, 30, 3))
        expected = [(p, r) for _, r, p in expected]
        self.assertEqual(names_of(self.client.lookup(name, ["M/1"])), expected)
        sources = {(p, r): self.get(table, p, r) for p, r in expected}
        for found in self.client.lookup(name, ["M/1"]):
            self.assertEqual(found, sources[found.partition_key, found.row_key])
        for found in self.client.lookup(name, ["M/1"], trust_index=True):
            self.assertEqual(plain(found)["Maintainer"], "M/1")
        reply = self.client.lookup_index(index=name, equals=[client.value("M/1")], keys_only=True)
        self.assertEqual(names_of(reply.keys), expected)
        self.assertEqual(len(reply.entities), 0)
        self.assertEqual((reply.stats.access_path, reply.stats.index), (3, name))
        for size in (1, 3):
            self.assertEqual(names_of(self.client.lookup(name, ["M/1"], page_size=size)), expected)
        narrow = [each for each in expected if int(each[1]) % 5 == 2]
        self.assertEqual(names_of(self.client.lookup(name, ["M/1", 2])), narrow)
        some = {"at_least": client.value(1), "below": client.value(3)}
        ranged = [each for each in expected if 1 <= int(each[1]) % 5 < 3]
        self.assertEqual(names_of(self.client.lookup(name, ["M/1"], range=some)), ranged)
        self.assertEqual(self.client.lookup(name, ["none"]), [])

    def test_projections(self):
        table = self.source(4)
        some, _ = self.create(table, projection={"some": {"names": ["Note"]}})
        none, _ = self.create(table, projection={"keys_only": True})
        for name, expected in ((some, {"Note"}), (none, set())):
            self.wait_ready(name)
            for found in self.client.query(name):
                properties = plain(found)
                source = (properties.pop("$SourcePartitionKey"), properties.pop("$SourceRowKey"))
                self.assertEqual(set(properties), expected)
                self.assertEqual(found.timestamp, self.get(table, *source).timestamp)

    def test_a_filter_says_which_entities_have_entries(self):
        table = self.source()
        filter = "Size ge 3 and PartitionKey eq 's1' or Note eq 'mine'"
        copy, _ = self.create(table, filter=filter)
        near, _ = self.create(
            table, filter=filter, shape=LIST, place=1, partition_key=[{"property": "PartitionKey"}], row_key=[{"property": "Maintainer"}]
        )
        self.wait_ready(copy)
        self.wait_ready(near)
        self.assertEqual(self.client.get_index(name=copy).index.filter, filter)

        def is_there(expected, values=("M/1",)):
            self.converges(copy, [*values], expected)
            latest = self.client.lookup(copy, [*values], freshness={"latest": True})
            self.assertEqual(names_of(latest), sorted(expected))
            found = [each for partition in ("s0", "s1") for each in self.client.lookup(near, [partition, *values])]
            self.assertEqual(names_of(found), sorted(expected))

        first = [("s1", "013"), ("s1", "019")]
        is_there(first)
        self.client.merge_entity(table=table, entity=entity("s1", "007", Size=3), precondition=match())
        self.client.merge_entity(table=table, entity=entity("s0", "004", Note="mine"), precondition=match())
        is_there([("s0", "004"), ("s1", "007"), *first])
        self.client.merge_entity(table=table, entity=entity("s0", "004", Note="yours"), precondition=match())
        self.client.merge_entity(table=table, entity=entity("s1", "013", Size=0), precondition=match())
        is_there([("s1", "007"), ("s1", "019")])
        self.assertEqual(self.client.get_index(name=copy).status.violations, 0)

    def test_list_holds_the_keys_of_all_members(self):
        table = self.source()
        name, _ = self.create(table, shape=LIST)
        self.wait_ready(name)
        self.assertEqual(self.client.get_index(name=name).status.entries, 30)
        pages = self.client.query(name)
        members = [tuple(member) for page in pages for member in json.loads(plain(page)["Members"])]
        self.assertEqual(len(members), 30)
        self.assertEqual(len(pages), 3)
        self.assertEqual(
            names_of(self.client.lookup(name, ["M/2"])), sorted((f"s{n % 2}", f"{n:03}") for n in range(2, 30, 3))
        )

    def test_list_in_pages(self):
        table = self.new_table()
        count = 1500
        self.client.load(table, [entity("a-rather-long-partition", f"{n:05}", A="x") for n in range(count)])
        name, _ = self.create(table, shape=LIST, partition_key=[{"property": "A"}])
        self.wait_ready(name)
        pages = self.client.query(name)
        self.assertGreater(len(pages), 1)
        rows = [member[1] for page in pages for member in json.loads(plain(page)["Members"])]
        self.assertEqual(rows, [f"{n:05}" for n in range(count)])
        for size in (0, 1):
            query = {"table": name, "descending": True}
            answers = self.client.pages(self.client.query_entities, query=query, page_size=size)
            found = [each for answer in answers for each in answer.entities]
            self.assertEqual([contents(each) for each in found[::-1]], [contents(each) for each in pages])
        for page in pages:
            self.assertLessEqual(len(plain(page)["Members"]), 32768)
            self.assertEqual(contents(self.get(name, page.partition_key, page.row_key)), contents(page))
        self.assertEqual([row for _, row in names_of(self.client.lookup(name, ["x"]))], rows)

    def test_built_online_while_writes_go_on(self):
        table = self.source(600)
        name, _ = self.create(table)
        for number in range(600, 700):
            self.client.insert_entity(table=table, entity=self.item(number))
        self.wait_ready(name)
        expected = [(f"s{n % 2}", f"{n:03}") for n in range(700) if n % 3 == 0]
        self.converges(name, ["M/0"], expected)

    def test_violations_are_counted_and_skipped(self):
        table = self.new_table()
        long = "é" * 600
        self.client.load(table, [entity("p", "1", A="ok"), entity("p", "2", A=long), entity("p", "3", B=1)])
        name, _ = self.create(table, partition_key=[{"property": "A"}])
        self.wait_ready(name)
        self.assertEqual(names_of(self.client.lookup(name, ["ok"])), [("p", "1")])
        status = self.client.get_index(name=name).status
        self.assertEqual((status.entries, status.violations), (1, 1))
        self.client.merge_entity(table=table, entity=entity("p", "2", A="ok"), precondition=match())
        self.converges(name, ["ok"], [("p", "1"), ("p", "2")])
        wait_for("the violation to go", lambda: self.client.get_index(name=name).status.violations == 0)

    def test_entries_are_written_by_their_index_alone(self):
        table = self.source(3)
        name, _ = self.create(table)
        self.wait_ready(name)
        before = self.client.query(name)
        some, address = entity("p", "r"), key((before[0].partition_key, before[0].row_key))
        for method in ("insert_entity", "insert_or_replace_entity", "insert_or_merge_entity"):
            self.refused("FAILED_PRECONDITION", "INDEX_OWNED", getattr(self.client, method), table=name, entity=some)
        for method in ("replace_entity", "merge_entity"):
            call = getattr(self.client, method)
            self.refused("FAILED_PRECONDITION", "INDEX_OWNED", call, table=name, entity=some, precondition=match())
        delete = self.client.delete_entity
        self.refused("FAILED_PRECONDITION", "INDEX_OWNED", delete, table=name, key=address, precondition=match())
        batch = [BatchOperation(insert=some)]
        self.refused("FAILED_PRECONDITION", "INDEX_OWNED", self.client.execute_batch, table=name, operations=batch)
        self.refused("FAILED_PRECONDITION", "INDEX_OWNED", self.client.load, name, [some])
        self.refused("FAILED_PRECONDITION", "INDEX_OWNED", self.client.delete_table, name=name)
        self.assertEqual(self.client.query(name), before)

    def test_refused_declarations(self):
        table = self.new_table()
        good = {"name": self.new_name("Idx"), "table": table, "shape": COPY, "partition_key": [{"property": "A"}]}
        for change, code, reason in (
            ({"table": "none"}, "NOT_FOUND", "TABLE_NOT_FOUND"),
            ({"name": table}, "ALREADY_EXISTS", "TABLE_ALREADY_EXISTS"),
            ({"name": "a-b"}, "INVALID_ARGUMENT", "INVALID_RESOURCE_NAME"),
            ({"shape": 0}, "INVALID_ARGUMENT", "INVALID_INPUT"),
            ({"shape": 9}, "INVALID_ARGUMENT", "INVALID_INPUT"),
            ({"partition_key": []}, "INVALID_ARGUMENT", "INVALID_INPUT"),
            ({"partition_key": [{"property": "A"}] * 17}, "INVALID_ARGUMENT", "INVALID_INPUT"),
            ({"partition_key": [{}]}, "INVALID_ARGUMENT", "INVALID_INPUT"),
            ({"partition_key": [{"property": "A", "width": 20}]}, "INVALID_ARGUMENT", "INVALID_INPUT"),
            ({"projection": {"keys_only": False}}, "INVALID_ARGUMENT", "INVALID_INPUT"),
            ({"filter": "A eq"}, "INVALID_ARGUMENT", "INVALID_INPUT"),
            ({"filter": "PartitionKey"}, "INVALID_ARGUMENT", "INVALID_INPUT"),
            ({"filter": "near(A)"}, "UNIMPLEMENTED", "NOT_IMPLEMENTED"),
            ({"shape": LIST, "projection": {"keys_only": True}}, "INVALID_ARGUMENT", "INVALID_INPUT"),
        ):
            with self.subTest(change):
                error = self.refused(code, reason, self.client.create_index, index={**good, **change})
                wrong = [field for field in error.fields if field.startswith("index." + next(reversed(change)))]
                self.assertEqual(len(wrong), code in ("INVALID_ARGUMENT", "UNIMPLEMENTED"), error.fields)
        self.assertNotIn(good["name"], [each.index.name for each in self.client.list_indexes().indexes])

    def test_the_source_is_deleted_with_its_indexes(self):
        table = self.source(5)
        name, _ = self.create(table)
        self.wait_ready(name)
        operation = self.client.delete_table(name=table).operation
        self.refused("NOT_FOUND", "INDEX_NOT_FOUND", self.client.get_index, name=name)
        self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.client.get_table, name=name)
        self.wait_done(operation)
        wait_for("the rows to go", lambda: self.stack.sql(
            f"select count(*) from entities join tables using (table_id) where name in ('{table}', '{name}')"
        ) == "0")

    def test_lists_page_to_the_end(self):
        table = self.source(1)
        names = [self.create(table)[0] for _ in range(3)]
        for size in (1, 2, 0):
            pages = self.client.pages(self.client.list_indexes, page_size=size)
            listed = [each.index.name for page in pages for each in page.indexes]
            self.assertEqual(listed, sorted(listed, key=str.lower))
            self.assertLessEqual(set(names), set(listed))
            pages = self.client.pages(self.client.list_operations, page_size=size)
            ids = [each.operation_id for page in pages for each in page.operations]
            self.assertEqual(ids, sorted(set(ids)))
            self.assertGreaterEqual(len(ids), 3)

    def test_without_a_worker_an_index_is_not_ready(self):
        table = self.source(3)
        self.stack.worker.stop()
        try:
            name, reply = self.create(table)
            self.refused("FAILED_PRECONDITION", "INDEX_NOT_READY", self.client.lookup, name, ["M/1"])
            waited = self.in_time(self.client.wait_operation, operation_id=reply.status.build.operation_id, timeout=1)
            self.assertEqual(waited.operation.state, 1, "the deadline ends the wait, not the call")
        finally:
            self.stack.start_worker()
        self.wait_ready(name)
        self.converges(name, ["M/1"], [("s1", "001")])


class Operations(ServerCase):
    def test_unknown_ids(self):
        for call in (self.client.get_operation, self.client.wait_operation):
            for name in ("none", "", "x" * 1000, str(uuid.uuid4())):
                self.refused("NOT_FOUND", "OPERATION_NOT_FOUND", call, operation_id=name)


class Transactions(ServerCase):
    with_worker = True

    def setUp(self):
        self.one, self.other = self.new_table(), self.new_table()

    def submit(self, steps, name=None):
        name = name or str(uuid.uuid4())
        return self.client.submit_transaction(transaction_id=name, steps=steps).transaction

    def finish(self, steps, state=DONE):
        name = self.submit(steps).transaction_id
        done = self.client.wait_transaction(transaction_id=name, timeout=30).transaction
        self.assertEqual(done.state, state, done)
        return done

    def put(self, table, row, **properties):
        return {"table": table, "entity": entity("p", row, properties)}

    def at(self, table, row):
        return {"table": table, "key": key(("p", row))}

    def test_all_kinds_of_steps(self):
        for row in ("gone", "moved", "merged"):
            self.client.insert_entity(table=self.one, entity=entity("p", row, Old=row))
        steps = [
            {"insert_or_replace": self.put(self.one, "new", A=1)},
            {"insert_or_merge": self.put(self.one, "merged", A=2)},
            {"delete_if_exists": self.at(self.one, "gone")},
            {"delete_if_exists": self.at(self.one, "never was")},
            {"move": {"source": self.at(self.one, "moved"), "destination": self.at(self.other, "archived")}},
            {"insert_or_replace": self.put(self.other, "log", A=3)},
        ]
        done = self.finish(steps)
        self.assertEqual((done.steps_done, len(done.steps)), (6, 6))
        self.assertEqual([(attempt.step, attempt.number) for attempt in done.timeline], [(n, 1) for n in range(6)])
        self.assertTrue(all(attempt.worker and attempt.started.seconds for attempt in done.timeline))
        found = {each.row_key: plain(each) for each in self.client.query(self.one)}
        self.assertEqual(found, {"new": {"A": 1}, "merged": {"Old": "merged", "A": 2}})
        found = {each.row_key: plain(each) for each in self.client.query(self.other)}
        self.assertEqual(found, {"archived": {"Old": "moved"}, "log": {"A": 3}})
        self.assertEqual(done.timeline[0].etag_before, "")
        self.assertEqual(done.timeline[0].etag_after, self.get(self.one, "p", "new").etag)

    def test_a_move_without_source_is_done(self):
        move = {"source": self.at(self.one, "none"), "destination": self.at(self.other, "none")}
        self.finish([{"move": move}])
        self.assertFalse(self.is_there(self.other, "p", "none"))

    def test_preconditions(self):
        etag = self.client.insert_entity(table=self.one, entity=entity("p", "r", A=1)).result.etag
        self.finish([{"insert_or_replace": self.put(self.one, "r", A=2), "precondition": match(etag)}])
        self.assertEqual(plain(self.get(self.one, "p", "r")), {"A": 2})
        failed = self.finish(
            [
                {"insert_or_replace": self.put(self.other, "first", A=1)},
                {"insert_or_replace": self.put(self.one, "r", A=3), "precondition": match(etag)},
                {"insert_or_replace": self.put(self.other, "third", A=1)},
            ],
            state=4,
        )
        self.assertEqual(failed.steps_done, 1)
        self.assertEqual(failed.timeline[-1].error.reason, "UPDATE_CONDITION_NOT_SATISFIED")
        self.assertTrue(self.is_there(self.other, "p", "first"), "what was done stays done")
        self.assertFalse(self.is_there(self.other, "p", "third"))
        self.assertEqual(plain(self.get(self.one, "p", "r")), {"A": 2})

    def test_a_precondition_on_an_absent_entity_fails_every_kind_of_step(self):
        for action in (
            {"insert_or_replace": self.put(self.one, "no", A=1)},
            {"insert_or_merge": self.put(self.one, "no", A=1)},
            {"delete_if_exists": self.at(self.one, "no")},
            {"move": {"source": self.at(self.one, "no"), "destination": self.at(self.other, "no")}},
        ):
            for precondition in (match(), match('W/"1.1"'), {"condition": "A eq 1"}):
                with self.subTest(action=action, precondition=precondition):
                    failed = self.finish([{**action, "precondition": precondition}], state=4)
                    self.assertEqual(failed.timeline[-1].error.reason, "RESOURCE_NOT_FOUND")
                    self.assertFalse(self.is_there(self.other, "p", "no"))

    def test_the_id_stands_for_the_steps(self):
        steps = [{"insert_or_replace": self.put(self.one, "r", A=1)}]
        done = self.finish(steps)
        self.client.delete_entity(table=self.one, key=key(("p", "r")), precondition=match())
        again = self.submit(steps, done.transaction_id)
        self.assertEqual(again, done)
        self.assertFalse(self.is_there(self.one, "p", "r"), "it does not run again")
        other = [{"insert_or_replace": self.put(self.one, "r", A=2)}]
        self.refused("ALREADY_EXISTS", "TRANSACTION_ID_REUSED", self.submit, other, done.transaction_id)
        self.assertEqual(self.client.get_transaction(transaction_id=done.transaction_id).transaction, done)
        for call in (self.client.get_transaction, self.client.wait_transaction):
            self.refused("NOT_FOUND", "TRANSACTION_NOT_FOUND", call, transaction_id="none")

    def test_an_old_uuid7_is_expired(self):
        old = uuid.UUID("01800000-0000-7000-8000-000000000000")
        self.refused(
            "INVALID_ARGUMENT",
            "TRANSACTION_ID_EXPIRED",
            self.submit,
            [{"delete_if_exists": self.at(self.one, "r")}],
            str(old),
        )

    def test_a_step_with_an_etag_of_another_entity_fails(self):
        one, other = (self.client.insert_entity(table=self.one, entity=entity("p", row, A=1)).result.etag for row in "ab")
        self.finish([{"delete_if_exists": self.at(self.one, "a"), "precondition": match(other)}], state=4)
        self.finish([{"delete_if_exists": self.at(self.one, "a"), "precondition": match(one)}])

    def test_refused_submissions(self):
        good = {"delete_if_exists": self.at(self.one, "r")}
        for steps, code, reason in (
            ([], "INVALID_ARGUMENT", "INVALID_INPUT"),
            ([{}], "INVALID_ARGUMENT", "INVALID_INPUT"),
            ([good] * 101, "INVALID_ARGUMENT", "INVALID_INPUT"),
            ([good, {"insert_or_replace": self.put(self.one, "a/b")}], "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT"),
            ([{**good, "precondition": match("bad")}], "INVALID_ARGUMENT", "INVALID_INPUT"),
        ):
            with self.subTest(reason=reason, steps=len(steps)):
                name = str(uuid.uuid4())
                self.refused(code, reason, self.submit, steps, name)
                self.refused("NOT_FOUND", "TRANSACTION_NOT_FOUND", self.client.get_transaction, transaction_id=name)
        for name in ("", "x" * 129, "new\nline", "é"):
            self.refused(
                "INVALID_ARGUMENT",
                "INVALID_INPUT",
                self.client.submit_transaction,
                transaction_id=name,
                steps=[good],
            )

    def test_a_table_that_is_not_there_is_refused(self):
        steps = [
            {"insert_or_replace": self.put(self.one, "first", A=1)},
            {"insert_or_replace": self.put("none", "second", A=1)},
        ]
        error = self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.submit, steps)
        self.assertEqual((error.metadata["operation_index"], error.metadata["table"]), ("1", "none"))
        self.assertEqual(self.client.query(self.one), [])

    def test_limits_of_ids_and_steps(self):
        steps = [{"insert_or_replace": self.put(self.one, f"{n:03}", N=n)} for n in range(100)]
        self.submit(steps, "~" * 128)
        done = self.client.wait_transaction(transaction_id="~" * 128, timeout=60).transaction
        self.assertEqual((done.state, done.steps_done), (DONE, 100))
        self.assertEqual([plain(found)["N"] for found in self.client.query(self.one)], list(range(100)))

    def test_lists_page_to_the_end(self):
        names = {self.finish([{"delete_if_exists": self.at(self.one, "r")}]).transaction_id for _ in range(3)}
        for size in (1, 2, 0):
            pages = self.client.pages(self.client.list_transactions, page_size=size)
            listed = [each for page in pages for each in page.transactions]
            ids = [each.transaction_id for each in listed]
            self.assertEqual(ids, sorted(set(ids)))
            self.assertLessEqual(names, set(ids))
            self.assertFalse(any(each.steps or each.timeline for each in listed))

    def test_without_a_worker_a_transaction_waits(self):
        self.stack.worker.stop()
        try:
            name = self.submit([{"insert_or_replace": self.put(self.one, "late", A=1)}]).transaction_id
            waited = self.in_time(self.client.wait_transaction, transaction_id=name, timeout=1).transaction
            self.assertEqual(waited.state, 1)
        finally:
            self.stack.start_worker()
        done = self.client.wait_transaction(transaction_id=name, timeout=30).transaction
        self.assertEqual(done.state, DONE)
        self.assertTrue(self.is_there(self.one, "p", "late"))


class HealthAndReflection(ServerCase):
    def test_health_check(self):
        services = {path.split("/")[1] for path, _ in types.methods()}
        for name in ("", "tavola.v1.EntityService", "grpc.health.v1.Health"):
            self.assertEqual(self.client.health(name), "SERVING")
        self.assertIn("tavola.v1.TransactionService", services)
        for name in ("none", "tavola.v1", "tavola.v1.EntityServic"):
            with self.assertRaises(client.ApiError) as caught:
                self.client.health(name)
            self.assertEqual(caught.exception.code, "NOT_FOUND")

    def test_health_watch(self):
        known, unknown = self.client.health_watch("tavola.v1.TableService"), self.client.health_watch("none")
        self.assertEqual(self.client.health_name(next(known)), "SERVING")
        self.assertEqual(self.client.health_name(next(unknown)), "SERVICE_UNKNOWN")
        self.stack.postgres_down()
        self.assertEqual(self.client.health_name(next(known)), "NOT_SERVING")
        self.stack.postgres_up()
        self.assertEqual(self.client.health_name(next(known)), "SERVING")
        known.cancel()
        unknown.cancel()

    def test_reflection_tells_everything(self):
        expected = sorted({path.split("/")[1] for path, _ in types.methods()})
        for version in ("v1", "v1alpha"):
            listed, *files = self.client.reflect(
                version, [{"list_services": ""}] + [{"file_containing_symbol": name} for name in expected]
            )
            names = sorted(service.name for service in listed.list_services_response.service)
            self.assertEqual(names, expected)
            for name, reply in zip(expected, files):
                self.assertEqual(reply.WhichOneof("message_response"), "file_descriptor_response", name)
            by_name, method, unknown = self.client.reflect(
                version,
                [
                    {"file_by_filename": "tavola/v1/entity.proto"},
                    {"file_containing_symbol": "tavola.v1.EntityService.GetEntity"},
                    {"file_containing_symbol": "tavola.v1.None"},
                ],
            )
            self.assertTrue(by_name.file_descriptor_response.file_descriptor_proto)
            self.assertTrue(method.file_descriptor_response.file_descriptor_proto)
            self.assertEqual(unknown.error_response.error_code, 5)

    def test_a_client_needs_nothing_but_reflection(self):
        symbols = [{"file_containing_symbol": "tavola.v1.EntityService"}, {"file_containing_symbol": "tavola.v1.TableService"}]
        files = {}
        for reply in self.client.reflect("v1", symbols):
            for encoded in reply.file_descriptor_response.file_descriptor_proto:
                file = client.descriptor_pb2.FileDescriptorProto.FromString(encoded)
                files[file.name] = file
        ordered = []

        def add(name):
            for dependency in files[name].dependency:
                add(dependency)
            if files[name] not in ordered:
                ordered.append(files[name])

        for name in files:
            add(name)
        reflected = client.Types(ordered)
        create = reflected.message("tavola.v1.CreateTableRequest")(name="reflected")
        self.client.raw("/tavola.v1.TableService/CreateTable", create.SerializeToString())
        self.assertEqual(self.client.get_table(name="reflected").table.name, "reflected")

    def test_every_method_of_the_api_is_served(self):
        for path, method in types.methods():
            if any(types.is_streamed(method)):
                continue
            with self.subTest(path):
                try:
                    self.client.raw(path, b"")
                except client.ApiError as error:
                    self.assertNotEqual(error.code, "UNIMPLEMENTED")


if __name__ == "__main__":
    unittest.main()
