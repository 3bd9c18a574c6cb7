# SPDX-License-Identifier: Apache-2.0
"""The Python client against a server and a worker: values, writes, pages, indexes, transactions, watches, breaks, access."""

import concurrent.futures
import datetime as dt
import functools
import hashlib
import inspect
import io
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import uuid

import grpc
from tavola_test.certificates import Authority
from tavola_test.processes import program_environment, run_program
from tavola_test.receiver import Receiver
from tavola_test.settings import SOURCE, TIMEOUT_FACTOR
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

import tavola
from tavola import blob, errors
from tavola.index import declaration

UTC = dt.timezone.utc


def person(partition, row, **properties):
    return {"PartitionKey": partition, "RowKey": row, **properties}


class World:
    """A server and a worker, the service that their steps call, and a client."""

    def __init__(self):
        self.stack = Stack()
        unittest.addModuleCleanup(self.stack.close)
        self.receiver = Receiver()
        unittest.addModuleCleanup(self.receiver.close)
        outside = {"TAVOLA_FILE_ROOT": tempfile.mkdtemp(dir=self.stack.folder), "TAVOLA_HTTP_CALL_HOSTS": self.receiver.host}
        self.stack.start_server(**outside)
        self.stack.start_worker(**outside)
        self.client = tavola.Client(self.stack.target, timeout=30 * TIMEOUT_FACTOR)
        unittest.addModuleCleanup(self.client.close)


@functools.cache
def world():
    """One for all classes that disturb no server."""
    return World()


class ClientCase(unittest.TestCase):
    """A table of its own for each test."""

    def setUp(self):
        self.stack, self.receiver, self.client = world().stack, world().receiver, world().client
        self.table = self.client.create_table("t" + uuid.uuid4().hex[:20], change_feed=True)


class Values(ClientCase):
    def test_every_type_returns_as_it_was_written(self):
        time = dt.datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC)
        values = {
            "Text": "O'Neill ü 😀", "Yes": True, "Small": tavola.Int32(-36), "Large": 2**62, "Ratio": 0.1, "When": time,
            "Id": uuid.UUID("c9da6455-213d-42c9-9a79-3e9149a57833"), "Bytes": b"\x00\xff", "Infinite": float("inf"),
            "Early": dt.datetime(1601, 1, 1, tzinfo=UTC), "Late": dt.datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
            "Exact": tavola.DateTime.of(time, 7), "Elsewhere": time.astimezone(dt.timezone(dt.timedelta(hours=2))),
        }
        self.table.insert(person("p", "r", **values, Nothing=None))
        found = self.table.get("p", "r")
        self.assertEqual(dict(found), person("p", "r", **values))
        self.assertIsInstance(found["Small"], tavola.Int32)
        self.assertNotIsInstance(found["Large"], tavola.Int32)
        self.assertIs(found["Yes"], True)
        self.assertEqual((found["Exact"].tick, type(found["When"])), (7, dt.datetime))
        self.table.replace(found)
        self.assertEqual(self.table.get("p", "r"), found)

    def test_filters_find_each_value(self):
        time = tavola.DateTime.of(dt.datetime(2026, 1, 31, 12, tzinfo=UTC), 7)
        values = ["O'Neill", True, False, tavola.Int32(-3), 2**40, 1.0, 1e300, float("-inf"), time, uuid.uuid4(), b"\x00\xff"]
        for number, value in enumerate(values):
            self.table.insert(person("p", f"{number}", V=value))
            found = [one["RowKey"] for one in self.table.query(tavola.odata("V eq {v}", v=value))]
            self.assertEqual(found, [f"{number}"], value)

    def test_what_cannot_be_stored_is_refused_with_its_property(self):
        for value, kind, words in (
            (dt.datetime(2026, 1, 1), ValueError, "property V: 2026-01-01T00:00:00 has no time zone"),
            (2**63, ValueError, "property V: 9223372036854775808 does not fit 64 bits"),
            ([1], TypeError, "property V: a list cannot be stored"),
        ):
            with self.subTest(value=value), self.assertRaisesRegex(kind, words):
                self.table.insert(person("p", "r", V=value))
        with self.assertRaisesRegex(ValueError, "the entity has no 'RowKey'"):
            self.table.insert({"PartitionKey": "p"})

    def test_a_hook_encrypts_what_is_stored(self):
        def turn(partition, row, properties):
            return {name: value[::-1] if name == "Secret" else value for name, value in properties.items()}

        table = self.client.table(self.table.name, encrypt=turn, decrypt=turn)
        table.insert(person("p", "r", Secret="abc", Open="abc"))
        with table.batch() as batch:
            batch.insert(person("p", "s", Secret="abc"))
        table.load([person("p", "t", Secret="abc")])
        self.assertEqual([one.get("Secret") for one in self.table.query()], ["cba"] * 3)
        for found in (list(table.query()), list(table.scan()), table.get_many([("p", "r"), ("p", "s"), ("p", "t")])):
            self.assertEqual([one["Secret"] for one in found], ["abc"] * 3)
        self.assertEqual(table.get("p", "r")["Open"], "abc")


class Writes(ClientCase):
    def test_an_entity_keeps_its_version(self):
        ada = tavola.Entity(person("sales", "1", Name="Ada", Age=36))
        self.table.insert(ada)
        self.assertEqual(ada.key, ("sales", "1"))
        seen = self.table.get("sales", "1")
        self.assertEqual((seen.etag, seen.timestamp), (ada.etag, ada.timestamp))
        ada["Age"] = 37
        self.table.replace(ada)
        with self.assertRaises(tavola.ConditionNotMet) as caught:
            self.table.replace(seen)
        self.assertEqual((caught.exception.code, caught.exception.reason), ("ABORTED", "UPDATE_CONDITION_NOT_SATISFIED"))
        self.table.replace(seen, if_match="*")
        self.table.merge(person("sales", "1", Age=38), condition="Age eq 36")
        with self.assertRaises(tavola.ConditionNotMet):
            self.table.merge(person("sales", "1", Age=39), condition="Age eq 36")
        self.assertEqual(self.table.get("sales", "1"), person("sales", "1", Name="Ada", Age=38))
        self.table.delete("sales", "1", condition="Age eq 38")
        self.assertIsNone(self.table.find("sales", "1"))

    def test_errors_are_classes_with_reason_and_metadata(self):
        self.table.insert(person("p", "r"))
        for call, kind, reason in (
            (lambda: self.table.insert(person("p", "r")), tavola.EntityAlreadyExists, "ENTITY_ALREADY_EXISTS"),
            (lambda: self.table.get("p", "x"), tavola.EntityNotFound, "RESOURCE_NOT_FOUND"),
            (lambda: self.client.table("nosuch").count(), tavola.TableNotFound, "TABLE_NOT_FOUND"),
            (lambda: self.client.create_table(self.table.name), tavola.AlreadyExists, "TABLE_ALREADY_EXISTS"),
            (lambda: self.client.create_table("a-b"), tavola.InvalidArgument, "INVALID_RESOURCE_NAME"),
            (lambda: self.table.insert(person("a/b", "r")), tavola.OutOfRange, "OUT_OF_RANGE_INPUT"),
            (lambda: self.table.count("Age eq"), tavola.InvalidArgument, "INVALID_INPUT"),
            (lambda: list(self.table.query("A eq 1", max_plan="point")), tavola.PlanTooExpensive, "PLAN_TOO_EXPENSIVE"),
            (lambda: self.client.operation("build-0"), tavola.NotFound, "OPERATION_NOT_FOUND"),
        ):
            with self.subTest(reason=reason), self.assertRaises(kind) as caught:
                call()
            self.assertEqual(caught.exception.reason, reason)
            self.assertIn(reason, str(caught.exception))
        with self.assertRaises(tavola.TableNotFound) as caught:
            self.client.table("nosuch").count()
        self.assertEqual(caught.exception.metadata, {"table": "nosuch"})
        self.assertIs(self.client.create_table(self.table.name, exist_ok=True).count(), 1)

    def test_a_batch_is_one_write(self):
        ada = tavola.Entity(person("p", "1", N=1))
        with self.table.batch() as batch:
            batch.insert(ada).insert(person("p", "2", N=2)).upsert(person("p", "3", N=3))
        self.assertEqual((len(batch.results), ada.etag), (3, batch.results[0].etag))
        with self.assertRaises(tavola.EntityAlreadyExists) as caught, self.table.batch() as batch:
            batch.delete("p", "1").merge(person("p", "2", M=1)).insert(person("p", "3"))
        self.assertEqual(caught.exception.metadata["operation_index"], "2")
        self.assertEqual(self.table.count(), 3)
        with self.assertRaises(RuntimeError), self.table.batch() as batch:
            batch.delete("p", "1")
            raise RuntimeError("nothing is sent")
        self.assertEqual(self.table.count(), 3)

    def test_a_request_id_makes_a_repeat_harmless(self):
        first = self.table.insert(person("p", "r"), request_id="one")
        again = self.table.insert(person("p", "r"), request_id="one")
        self.assertEqual((first.replayed, again.replayed, again.etag), (False, True, first.etag))

    def test_an_entity_expires(self):
        soon = dt.datetime.now(UTC) + dt.timedelta(days=1)
        self.table.insert(tavola.Entity(person("p", "r"), expires=soon))
        self.assertEqual(self.table.get("p", "r").expires, soon)
        self.table.upsert(tavola.Entity(person("p", "r"), expires=dt.datetime(2020, 1, 1, tzinfo=UTC)))
        self.assertIsNone(self.table.find("p", "r"))

    def test_large_entities_are_loaded_and_scanned_whole(self):
        table = self.client.create_table(self.table.name + "wide", wide_entities=True)
        self.addCleanup(table.drop)
        large = person("p", "b", **{f"b{n:03}": b"x" * 60_000 for n in range(250)})
        entities = [person("p", "a", N=1), large, person("p", "c", N=3)]
        self.assertEqual(table.load(iter(entities)).committed, 3)
        self.assertEqual([dict(found) for found in table.scan()], [dict(one) for one in entities])
        done = self.table.load([person("p", "a"), large, person("p/", "c")])
        self.assertEqual((done.committed, [(one.position, one.error.reason) for one in done.rejected]),
                         (1, [(1, "ENTITY_TOO_LARGE"), (2, "OUT_OF_RANGE_INPUT")]))

    def test_an_import_says_what_was_refused(self):
        many = (person("p", "bad/row" if n == 700 else f"{n:05}", N=n) for n in range(1000))
        done = self.table.load(many)
        self.assertEqual((done.committed, self.table.count()), (999, 999))
        self.assertEqual([(one.position, one.key, one.error.reason) for one in done.rejected],
                         [(700, ("p", "bad/row"), "OUT_OF_RANGE_INPUT")])
        self.assertEqual(self.table.load([]).committed, 0)


class Reads(ClientCase):
    def setUp(self):
        super().setUp()
        self.table.load(person(f"p{n // 10}", f"{n:03}", N=n) for n in range(25))

    def numbers(self, found):
        return [one["N"] for one in found]

    def test_queries_follow_pages(self):
        query = self.table.query("N ge 3", page_size=4)
        self.assertEqual(self.numbers(query), list(range(3, 25)))
        self.assertEqual(self.numbers(query), list(range(3, 25)))  # asks anew
        pages = list(query.pages())
        self.assertGreater(len(pages), 5)
        self.assertEqual(pages[0].stats.access_path, "TABLE_SCAN")
        rest = self.table.query("N ge 3", page_size=4, token=pages[1].token)
        self.assertEqual(self.numbers(rest), list(range(11, 25)))
        self.assertEqual(self.numbers(self.table.query(descending=True)), list(range(24, -1, -1)))
        self.assertEqual(query.first()["N"], 3)
        self.assertIsNone(self.table.query("N eq 99").first())
        self.assertEqual(list(self.table.query("N eq 3", select=["M"])), [person("p0", "003")])

    def test_scan_count_and_keys(self):
        self.assertEqual(self.numbers(self.table.scan("N lt 5")), list(range(5)))
        self.assertEqual((self.table.count(), self.table.count("N lt 5")), (25, 5))
        found = self.table.get_many([("p0", "001"), ("p9", "x"), ("p2", "024"), ("p0", "001")])
        self.assertEqual([one and one["N"] for one in found], [1, None, 24, 1])
        self.assertEqual(self.table.explain("PartitionKey eq 'p0'")[0].access_path, "PARTITION_SCAN")

    def test_a_range_is_deleted_by_an_operation(self):
        operation = self.table.delete_range("N lt 5").wait(60)
        self.assertEqual((operation.state, operation.done, self.table.count()), ("DONE", 5, 20))
        self.assertIn(operation.id, [one.id for one in self.client.operations()])

    def test_an_index_finds(self):
        name = "i" + uuid.uuid4().hex[:20]
        index = self.table.create_index(name, "N", unique=True).wait(60)
        self.assertEqual(index.state(), "READY")
        self.assertEqual(self.numbers(index.lookup(7)), [7])
        self.assertEqual(self.numbers(index.lookup(tavola.Int32(7))), [7])
        self.assertEqual(["N" in one for one in index.lookup(7, select=["none"])], [False])
        result = self.table.upsert(person("q", "1", N=100))
        self.assertEqual([one.key for one in index.lookup(100, at_least=[result])], [("q", "1")])
        with self.assertRaises(tavola.UniqueViolation) as caught:
            self.table.insert(person("q", "2", N=100))
        self.assertEqual(caught.exception.metadata["index"], name)
        with self.assertRaises(tavola.IndexAlreadyExists):
            self.table.create_index(name, "N")
        self.assertEqual(self.table.create_index(name, "N", exist_ok=True).wait(60).state(), "READY")
        index.drop().wait(60)
        with self.assertRaises(tavola.IndexNotFound):
            index.state()

    def test_a_range_of_an_index_in_pages(self):
        index = self.table.create_index("i" + uuid.uuid4().hex[:20], tavola.literal_part("all"), row_key=[tavola.part("N")])
        found = index.wait(60).lookup(from_=5, below=20, page_size=4, latest=True)
        self.assertEqual(self.numbers(found), list(range(5, 20)))
        self.assertEqual(self.numbers(index.lookup(descending=True, page_size=7)), list(range(24, -1, -1)))

    def test_a_copy_rule_is_kept(self):
        people = self.client.create_table("t" + uuid.uuid4().hex[:20])
        rule = tavola.copies_of(self.table, (tavola.literal_part("boss"), "Boss"), {"BossNumber": "N"}, version_to="BossVersion")
        index = people.create_index("i" + uuid.uuid4().hex[:20], copies=rule).wait(60)
        self.table.upsert(person("boss", "1", N=7))
        people.insert(person("p", "1", Boss="1"))
        wait_for("the copy", lambda: "BossVersion" in people.get("p", "1"))
        copied = people.get("p", "1")
        self.assertEqual((copied["BossNumber"], copied["BossVersion"]), (7, self.table.get("boss", "1").etag))
        written = self.table.merge(person("boss", "1", N=8))
        self.assertEqual([one["BossNumber"] for one in index.lookup("1", at_least=[written])], [8])
        self.assertEqual(index.info().status.copies.waiting_sources, 0)
        index.drop()

    def test_a_copy_rule_names_its_source_by_two_keys(self):
        rule = tavola.copies_of(self.table, (tavola.part("PartitionKey"), tavola.literal_part("boss")), {"BossNumber": "N"})
        self.assertEqual((rule.source_partition_key.property, rule.source_row_key.literal), ("PartitionKey", "boss"))
        for named_by in (("Boss",), "Boss", ("Company", "Boss", "Deputy")):
            with self.assertRaisesRegex(ValueError, "named_by has to give"):
                tavola.copies_of(self.table, named_by, {"BossNumber": "N"})
        with self.assertRaisesRegex(ValueError, "as they are"):
            tavola.copies_of(self.table, ("PartitionKey", tavola.part("Boss", fold_case=True)), {"BossNumber": "N"})

    def test_an_unknown_word_of_a_declaration(self):
        with self.assertRaisesRegex(ValueError, "'sorted' is not a IndexShape: copy, list"):
            self.table.create_index("another", "N", shape="sorted")


class Transactions(ClientCase):
    def test_a_move_across_tables(self):
        archive = self.client.create_table("t" + uuid.uuid4().hex[:20])
        self.table.insert(person("p", "r", N=1))
        with self.client.transaction() as transaction:
            transaction.move(self.table, ("p", "r"), archive).upsert(self.table, person("p", "moved", By="me"))
        transaction.wait(60)
        self.assertEqual(transaction.state, "DONE")
        self.assertEqual(archive.get("p", "r", after_transaction=transaction.id)["N"], 1)
        self.assertEqual([one["RowKey"] for one in self.table.query()], ["moved"])
        self.assertEqual(self.client.transaction(transaction.id).refresh().state, "DONE")

    def test_a_file_of_an_entity(self):
        self.table.insert(person("p", "r", N=1))
        with self.client.transaction() as transaction:
            transaction.write_file("python/text", "text")
            transaction.write_file(f"python/{self.table.name}", table=self.table, key=("p", "r"), delete_entity=True)
        transaction.wait(60)
        self.assertEqual([each.receipt.size > 0 for each in transaction.message.timeline], [True, True])
        self.assertEqual(list(self.table.query()), [])

    def test_a_call_with_an_entity(self):
        self.table.insert(person("p", "r", N=1))
        with self.client.transaction() as transaction:
            transaction.http_call(f"{self.receiver.url}/{self.table.name}", table=self.table, key=("p", "r"), delete_entity=True)
            transaction.http_call(f"{self.receiver.url}/{self.table.name}", "text", method="PUT", content_type="text/plain")
        transaction.wait(60)
        self.assertEqual([each.receipt.http_status for each in transaction.message.timeline], [200, 200])
        self.assertEqual(list(dict.fromkeys(each.method for each in self.receiver.of(f"/{self.table.name}"))), ["POST", "PUT"])

    def test_what_has_no_entity_can_delete_none(self):
        with self.assertRaises(tavola.InvalidArgument):
            self.client.transaction().put_blob("python/none", "text", delete_entity=True).submit()

    def test_a_blob_of_an_entity_is_put_and_deleted(self):
        self.table.insert(person("p", "r", N=1))
        name = f"python/{self.table.name}"
        with self.client.transaction() as transaction:
            transaction.append_file(name, "line\n")
            transaction.put_blob(name, table=self.table, key=("p", "r"), delete_entity=True, content_type="application/json", blob_if_absent=True)
        transaction.wait(60)
        self.assertEqual(json.loads(self.client.get_blob(name).read())["N"], "1")  # an Int64 is a text in JSON
        self.assertEqual(list(self.table.query()), [])
        with self.assertRaises(tavola.TransactionFailed):
            self.client.transaction().delete_blob(name, blob_if_match=f'"{32 * "0"}"').submit().wait(60)
        self.client.transaction().delete_blob(name).submit().wait(60)
        self.assertEqual([one.name for one in self.client.blobs(name)], [])

    def test_a_condition_that_does_not_hold(self):
        self.table.insert(person("p", "r", N=1))
        transaction = self.client.transaction().delete(self.table, "p", "r", condition="N eq 2").submit()
        with self.assertRaises(tavola.TransactionFailed) as caught:
            transaction.wait(60)
        self.assertEqual((caught.exception.reason, caught.exception.transaction.state),
                         ("UPDATE_CONDITION_NOT_SATISFIED", "FAILED"))
        self.assertEqual(self.table.count(), 1)


class Watches(ClientCase):
    def test_a_watch_tells_each_change(self):
        with self.table.watch() as watch:
            self.table.insert(person("p", "1", N=1))
            self.table.merge(person("p", "1", N=2))
            self.table.delete("p", "1")
            changes = list(itertools.islice(watch, 3))
        self.assertEqual([(one.kind, one.entity.get("N")) for one in changes], [("inserted", 1), ("changed", 2), ("deleted", None)])

    def test_a_token_is_where_another_watch_goes_on(self):
        with self.table.watch() as watch:
            self.table.insert(person("p", "1"))
            self.assertEqual(next(iter(watch)).entity["RowKey"], "1")
            token = watch.token  # of the message before: its change is told again
        self.table.insert(person("p", "2"))
        with self.table.watch(resume=token) as watch:
            self.assertEqual([change.entity["RowKey"] for change in itertools.islice(watch, 2)], ["1", "2"])

    def test_what_is_behind_a_token_is_read_at_once(self):
        nothing, token = self.table.changes()
        self.table.insert(person("p", "1"))
        self.table.insert(person("p", "2"))
        rows = []

        def read():
            nonlocal token
            changes, token = self.table.changes(token)
            rows.extend(change.entity["RowKey"] for change in changes)
            return len(rows) == 2

        wait_for("the changes", read)
        self.assertEqual((nothing, rows), ([], ["1", "2"]))

    def test_a_filter_and_cancel(self):
        watch = self.table.watch("PartitionKey eq 'q'")
        self.table.insert(person("p", "1"))
        self.table.insert(person("q", "2"))
        seen = []

        def read():
            for change in watch:
                seen.append(change.entity["PartitionKey"])

        reader = threading.Thread(target=read)
        reader.start()
        wait_for("the change", lambda: seen)
        watch.cancel()
        reader.join(30)
        self.assertEqual((seen, reader.is_alive()), (["q"], False))

    def test_a_table_without_a_feed(self):
        self.table.update(change_feed=False)
        with self.assertRaises(tavola.FailedPrecondition) as caught:
            self.table.watch()
        self.assertEqual(caught.exception.reason, "CHANGE_FEED_OFF")


class Cut(io.BytesIO):
    """A file that calls a function before the byte `at` is read for the first time."""

    def __init__(self, data, at, function):
        super().__init__(data)
        self.at, self.function, self.reads = at, function, []

    def read(self, size=-1):
        self.reads.append(self.tell())
        if self.function and self.tell() >= self.at:
            function, self.function = self.function, None
            function()
        return super().read(size)


class Blobs(ClientCase):
    DATA = random.Random(1).randbytes(1_000_003)

    def test_what_was_put_is_read(self):
        for source in (self.DATA, io.BytesIO(self.DATA), iter([self.DATA[:10], self.DATA[10:], b""]), memoryview(self.DATA)):
            put = self.client.put_blob("py/one", source, content_type="a/b", sha256=hashlib.sha256(self.DATA).digest())
            self.assertEqual((put.name, put.size, put.content_type), ("py/one", len(self.DATA), "a/b"))
            self.assertEqual(put.sha256, hashlib.sha256(self.DATA).digest())
            self.assertIsInstance(put.created, dt.datetime)
            reader = self.client.get_blob("py/one")
            self.assertEqual((reader.blob, reader.read()), (put, self.DATA))
        self.assertEqual(self.client.stat_blob("py/one"), put)
        self.assertEqual(self.client.put_blob("py/empty", b"").size, 0)
        self.assertEqual(self.client.get_blob("py/empty").read(), b"")

    def test_a_file_is_put_from_where_it_stands(self):
        file = io.BytesIO(self.DATA)
        file.seek(1000)
        self.client.put_blob("py/rest", file)
        self.assertEqual(self.client.get_blob("py/rest").read(), self.DATA[1000:])

    def test_ranges(self):
        self.client.put_blob("py/range", self.DATA)
        for offset, length in ((0, 1), (5, 300_000), (999_999, 0), (len(self.DATA), 0), (3, 10**9)):
            expected = self.DATA[offset:offset + length] if length else self.DATA[offset:]
            self.assertEqual(self.client.get_blob("py/range", offset=offset, length=length).read(), expected)
        with self.assertRaises(tavola.OutOfRange):
            self.client.get_blob("py/range", offset=len(self.DATA) + 1).read()

    def test_conditions(self):
        first = self.client.put_blob("py/tag", b"1", if_absent=True)
        with self.assertRaises(tavola.BlobAlreadyExists):
            self.client.put_blob("py/tag", b"2", if_absent=True)
        second = self.client.put_blob("py/tag", b"2", if_match=first.etag)
        for stale in (lambda: self.client.put_blob("py/tag", b"3", if_match=first.etag),
                      lambda: self.client.get_blob("py/tag", if_match=first.etag).read(),
                      lambda: self.client.delete_blob("py/tag", if_match=first.etag)):
            with self.assertRaises(tavola.ConditionNotMet):
                stale()
        self.client.delete_blob("py/tag", if_match=second.etag)
        for absent in (lambda: self.client.stat_blob("py/tag"), lambda: self.client.get_blob("py/tag").blob,
                       lambda: self.client.delete_blob("py/tag")):
            with self.assertRaises(tavola.BlobNotFound):
                absent()

    def test_a_content_with_another_digest_is_not_put(self):
        with self.assertRaises(tavola.InvalidArgument) as caught:
            self.client.put_blob("py/never", b"x", sha256=hashlib.sha256(b"y").digest())
        self.assertEqual(caught.exception.reason, "BLOB_DIGEST_MISMATCH")

    def test_a_source_that_fails_puts_nothing(self):
        def parts():
            yield self.DATA
            raise OSError("the disk is gone")

        with self.assertRaisesRegex(OSError, "the disk is gone"):
            self.client.put_blob("py/never", parts())
        with self.assertRaises(tavola.BlobNotFound):
            self.client.stat_blob("py/never")

    def test_a_list_has_the_names_with_the_prefix(self):
        for name in ("py/list/b", "py/list/a", "py/lisu"):
            self.client.put_blob(name, name.encode())
        self.assertEqual([one.name for one in self.client.blobs("py/list/")], ["py/list/a", "py/list/b"])

    def test_another_process_goes_on_with_an_upload(self):
        def is_stored():
            try:
                return self.client.send("BlobService/GetUpload", upload_id="py-two").stored >= 512 * 1024
            except tavola.NotFound:  # not begun
                return False

        def fail():
            wait_for("the stored bytes", is_stored)
            raise OSError("the process ends")

        with self.assertRaises(OSError):
            self.client.put_blob("py/two", Cut(self.DATA, 800_000, fail), upload_id="py-two")
        file = Cut(self.DATA, len(self.DATA), None)
        self.client.put_blob("py/two", file, upload_id="py-two")
        self.assertGreaterEqual(min(file.reads), 512 * 1024)
        self.assertEqual(self.client.get_blob("py/two").read(), self.DATA)
        again = Cut(self.DATA, 0, None)
        self.assertEqual(self.client.put_blob("py/two", again, upload_id="py-two"), self.client.stat_blob("py/two"))

    def test_an_upload_whose_blob_was_replaced_is_not_put_again(self):
        """A put without an answer, of which nothing is known any more, must not replace what was put later."""
        upload = blob.Upload(self.client.connection, b"old", {"name": "py/late", "upload_id": "py-late"})
        upload.run()
        self.client.put_blob("py/late", b"new")
        with self.assertRaises(tavola.OutcomeUnknown):
            upload.stored()
        self.assertEqual(self.client.get_blob("py/late").read(), b"new")


class LargeEntities(ClientCase):
    PHOTO = random.Random(7).randbytes(700_001)

    def setUp(self):
        super().setUp()
        name = self.table.name + "large"
        self.large = self.client.create_table(name, blob_properties=True)
        self.addCleanup(self.large.drop)

    def test_an_entity_and_its_content_are_written_in_one_call(self):
        ada = tavola.Entity(person("p", "1", Name="Ada"))
        put = self.large.put_with_content(ada, "Photo", self.PHOTO, content_type="image/png", sha256=hashlib.sha256(self.PHOTO).digest())
        found = self.large.get("p", "1")
        self.assertEqual((found["Name"], found["Photo"], found.etag), ("Ada", put.reference, ada.etag))
        reader = self.client.get_content(found["Photo"])
        self.assertEqual((reader.blob, reader.read()), (put, self.PHOTO))
        self.assertEqual((put.name, put.content_type), ("", "image/png"))
        self.assertEqual(self.client.get_content(found["Photo"], offset=5, length=300_000).read(), self.PHOTO[5:300_005])

    def test_a_content_replaces_the_one_that_was_read(self):
        ada = tavola.Entity(person("p", "1", Name="Ada"))
        self.large.put_with_content(ada, "Photo", b"first")
        found, late = self.large.get("p", "1"), self.large.get("p", "1")
        self.large.put_with_content(found, "Photo", io.BytesIO(b"second"), action="replace")
        with self.assertRaises(tavola.ConditionNotMet):
            self.large.put_with_content(late, "Photo", b"third", action="merge")
        now = self.large.get("p", "1")
        self.assertEqual((now["Name"], self.client.get_content(now["Photo"]).read()), ("Ada", b"second"))
        for action in ("insert_or_merge", "insert_or_replace"):
            self.large.put_with_content(person("p", action), "Photo", iter([b"of ", action.encode()]), action=action)
            self.assertEqual(self.client.get_content(self.large.get("p", action)["Photo"]).read(), b"of " + action.encode())

    def test_if_the_write_is_refused_nothing_is_put(self):
        self.large.put_with_content(person("p", "1"), "Photo", b"first")
        with self.assertRaises(tavola.EntityAlreadyExists):
            self.large.put_with_content(person("p", "1"), "Photo", b"second")
        with self.assertRaises(ValueError):
            self.large.put_with_content(person("p", "2"), "Photo", b"x", action="delete")
        self.assertEqual([self.client.get_content(one["Photo"]).read() for one in self.large.query()], [b"first"])

    def test_contents_are_put_first_and_held_by_a_batch(self):
        references = [self.client.put_content(text).reference for text in (b"one", b"two")]
        with self.large.batch() as batch:
            for row, reference in enumerate(references):
                batch.insert(person("p", str(row), Photo=reference))
        self.assertEqual([self.client.get_content(one["Photo"]).read() for one in self.large.query()], [b"one", b"two"])
        with self.assertRaises(tavola.InvalidArgument):
            self.client.get_content("no reference").read()

    def test_an_entity_may_have_many_properties(self):
        wide = self.client.create_table(self.table.name + "wide", wide_entities=True)
        self.addCleanup(wide.drop)
        day = tavola.Entity(person("p", "day", **{f"S{second:05}": second for second in range(10_000)}))
        wide.insert(day)
        self.assertEqual(wide.get("p", "day"), day)
        wide.merge(person("p", "day", S09999=-1), if_match=day.etag)
        self.assertEqual(wide.get("p", "day", select=["S00001", "S09999"]), person("p", "day", S00001=1, S09999=-1))


class Breaks(unittest.TestCase):
    """The server is killed under way; the client's callers notice nothing."""

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack(redis=False)
        cls.addClassCleanup(cls.stack.close)
        cls.stack.start_server()

    def setUp(self):
        self.stack.wait_until_serving()  # after a restart by the test before
        self.client = tavola.Client(self.stack.target, timeout=60 * TIMEOUT_FACTOR)
        self.addCleanup(self.client.close)
        self.table = self.client.create_table("t" + uuid.uuid4().hex[:20], change_feed=True)

    def restart(self):
        self.stack.server.kill()
        self.stack.start_server(wait=False)

    def in_background(self, function):
        results = []

        def run():
            try:
                results.append(function())
            except Exception as error:  # told to the test  # noqa: BLE001
                results.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread, results

    def test_a_write_under_way_happens_once(self):
        with self.stack.locked("entities"):
            thread, results = self.in_background(lambda: self.table.insert(person("p", "r", N=1)))
            self.stack.wait_for_lock_waiter()
            self.restart()
        thread.join(60 * TIMEOUT_FACTOR)
        self.assertIsInstance(results[0], tavola.WriteResult)
        self.assertEqual((self.table.count(), self.table.get("p", "r").etag), (1, results[0].etag))

    def test_without_a_request_id_a_lost_answer_is_an_error(self):
        with self.stack.locked("entities"):
            thread, results = self.in_background(lambda: self.table.insert(person("p", "r", N=1), request_id=""))
            self.stack.wait_for_lock_waiter()
            self.restart()
            thread.join(60 * TIMEOUT_FACTOR)
        self.assertIsInstance(results[0], tavola.Unavailable)

    def test_a_query_goes_on_with_its_next_page(self):
        self.table.load(person("p", f"{n:04}", N=n) for n in range(100))
        found = []
        for one in self.table.query(page_size=30):
            found.append(one["N"])
            if one["N"] in (10, 70):
                self.restart()
        self.assertEqual(found, list(range(100)))

    def test_a_scan_goes_on(self):
        self.table.load(person("p", f"{n:05}", Text="x" * 10000, N=n) for n in range(1500))
        found = []
        for one in self.table.scan():
            found.append(one["N"])
            if one["N"] == 500:
                self.restart()
        self.assertEqual(found, list(range(1500)))

    def test_a_watch_goes_on(self):
        watch = self.table.watch()
        changes = iter(watch)
        self.table.insert(person("p", "1"))
        self.assertEqual(next(changes).entity["RowKey"], "1")
        self.restart()
        self.table.insert(person("p", "2"))
        self.assertEqual(next(changes).entity["RowKey"], "2")
        self.stack.server.stop()
        self.stack.start_server()
        self.table.insert(person("p", "3"))
        self.assertEqual(next(changes).entity["RowKey"], "3")
        watch.cancel()

    def test_an_import_goes_on(self):
        def entities():
            for n in range(6000):
                if n in (1000, 5000):
                    self.restart()
                yield person("p", "bad/row" if n == 5500 else f"{n:05}", N=n)

        done = self.table.load(entities())
        self.assertEqual((done.committed, self.table.count()), (5999, 5999))
        self.assertEqual([one.position for one in done.rejected], [5500])

    def test_a_put_of_a_blob_goes_on(self):
        data = random.Random(2).randbytes(3_000_000)
        is_reached, is_restarted = threading.Event(), threading.Event()

        def pause():
            is_reached.set()
            is_restarted.wait(60 * TIMEOUT_FACTOR)

        thread, results = self.in_background(lambda: self.client.put_blob("py/broken", Cut(data, 2_000_000, pause)))
        self.assertTrue(is_reached.wait(60 * TIMEOUT_FACTOR))
        self.restart()
        is_restarted.set()
        thread.join(60 * TIMEOUT_FACTOR)
        self.assertEqual(results[0].sha256, hashlib.sha256(data).digest())

    def test_an_entity_and_its_content_are_written_once(self):
        """The server is killed while the content is put, and while it is read."""
        data = random.Random(5).randbytes(16_000_000)
        large = self.client.create_table("largeBroken", blob_properties=True)
        is_reached, is_restarted = threading.Event(), threading.Event()

        def pause():
            is_reached.set()
            is_restarted.wait(60 * TIMEOUT_FACTOR)

        ada = tavola.Entity(person("p", "1"))
        thread, results = self.in_background(lambda: large.put_with_content(ada, "Photo", Cut(data, 2_000_000, pause)))
        self.assertTrue(is_reached.wait(60 * TIMEOUT_FACTOR))
        self.restart()
        is_restarted.set()
        thread.join(60 * TIMEOUT_FACTOR)
        found = large.get("p", "1")
        self.assertEqual((found["Photo"], found.etag), (results[0].reference, ada.etag))
        parts = []
        for part in self.client.get_content(found["Photo"]):
            if not parts:
                self.restart()
            parts.append(part)
        self.assertEqual(b"".join(parts), data)

    def test_a_get_of_a_blob_goes_on(self):
        data = random.Random(3).randbytes(16_000_000)
        self.client.put_blob("py/long", data)
        for offset, length in ((0, 0), (7, 13_000_000)):
            reader, found = self.client.get_blob("py/long", offset=offset, length=length), []
            for part in reader:
                if not found:
                    self.restart()
                found.append(part)
            self.assertEqual(b"".join(found), data[offset:offset + (length or len(data))])

    def test_a_get_does_not_go_on_with_another_content(self):
        data = random.Random(4).randbytes(16_000_000)
        self.client.put_blob("py/moved", data)
        reader = self.client.get_blob("py/moved")
        next(reader)
        self.client.put_blob("py/moved", b"other")
        self.restart()
        with self.assertRaises(tavola.ConditionNotMet):
            reader.read()

    def test_no_server(self):
        with tavola.Client("unix:" + self.stack.folder + "/nobody", timeout=1) as client:
            with self.assertRaises(tavola.Unavailable):
                client.table("people").count()
            with self.assertRaises(tavola.Unavailable):
                list(client.table("people").scan())


class EndsWell(grpc.GenericRpcHandler):
    """A server, or a proxy, that ends each call as if it was well, and answers nothing."""

    def service(self, _details):
        return grpc.stream_stream_rpc_method_handler(lambda _requests, _context: iter(()))


class Unanswered(unittest.TestCase):
    def setUp(self):
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=[EndsWell()])
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        self.addCleanup(lambda: server.stop(None).wait())
        self.client = tavola.Client(f"127.0.0.1:{port}", timeout=5 * TIMEOUT_FACTOR)
        self.addCleanup(self.client.close)

    def test_an_import_is_no_success(self):
        with self.assertRaisesRegex(tavola.Internal, "has not answered 8 of its messages"):
            self.client.table("people").load(person("p", f"{n}", Text="x" * 20_000) for n in itertools.count())

    def test_a_put_is_no_success(self):
        for source in (b"x" * 1000, iter([b"x"])):
            with self.assertRaisesRegex(tavola.Internal, "PutBlob, and has not answered it"):
                self.client.put_blob("blob", source)

    def test_a_write_is_no_success(self):
        with self.assertRaisesRegex(tavola.Internal, "has not answered it"):
            self.client.table("people").upsert(person("p", "r"))


class Access(unittest.TestCase):
    """Tokens and signatures that the client signs, with a server that requires them, over TLS."""

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack(redis=False)
        cls.addClassCleanup(cls.stack.close)
        made = run_program("tavola", "account", "create", "acme", settings={"TAVOLA_POSTGRES": cls.stack.postgres})
        cls.account = tavola.Account("acme", made.stdout.split()[2])
        authority = Authority(cls.stack.folder, "authority")
        certificate, key = authority.sign("server")
        cls.authority = authority.file
        cls.stack.start_server(wait=False, TAVOLA_AUTHENTICATION="required", TAVOLA_LISTEN="127.0.0.1:0",
                               TAVOLA_TLS_CERT=certificate, TAVOLA_TLS_KEY=key)
        cls.address = wait_for("the address", cls.stack.listens_on)
        cls.client = tavola.Client(cls.address, token=cls.account, tls=cls.authority)
        cls.addClassCleanup(cls.client.close)
        cls.client.create_table("people").insert(person("a", "1", N=1))

    def signed(self, **fields):
        text = self.account.sign(tavola.Signature("people", expiry=dt.datetime.now(UTC) + dt.timedelta(hours=1), **fields))
        client = tavola.Client(self.address, token=text, tls=self.authority)
        self.addCleanup(client.close)
        return client.table("people")

    def test_a_signature_opens_what_it_says(self):
        table = self.signed(permissions="r", start_partition="a", end_partition="a", protocol="tls")
        self.assertEqual(table.get("a", "1")["N"], 1)
        self.assertIsNone(table.find("b", "1"))
        with self.assertRaises(tavola.PermissionDenied) as caught:
            table.insert(person("a", "2"))
        self.assertEqual(caught.exception.reason, "AUTHORIZATION_PERMISSION_MISMATCH")
        with self.assertRaises(tavola.PermissionDenied):
            table.client.create_table("other")

    def test_the_command_line_makes_the_same(self):
        """What `tavola sas create` signs with the same fields at the same time has the same text."""
        printed = run_program("tavola", *"sas create acme people --permissions rau --expiry 2030-01-31T12:00Z".split(),
                              *"--start-partition a --end-partition b --end-row 9 --protocol tls".split(),
                              settings={"TAVOLA_ACCOUNT_KEY": self.account.key}).stdout.strip()
        shown = run_program("tavola", "sas", "explain", text=printed).stdout
        issued = dt.datetime.fromisoformat(re.search(r"^issued +(\S+)Z$", shown, re.M)[1]).replace(tzinfo=UTC)
        signature = tavola.Signature("people", "rau", dt.datetime(2030, 1, 31, 12, tzinfo=UTC), start_partition="a",
                                     end_partition="b", end_row="9", protocol="tls")
        ours = self.account.sign(signature, issued=issued)
        explained = run_program("tavola", "sas", "explain", text=ours, settings={"TAVOLA_ACCOUNT_KEY": self.account.key}).stdout
        self.assertEqual(explained.splitlines()[:-1], shown.splitlines()[:-1] if "signed" in shown else shown.splitlines())
        self.assertIn("with the key of TAVOLA_ACCOUNT_KEY", explained)

    def test_wrong_credentials(self):
        with tavola.Client(self.address, tls=self.authority) as client, self.assertRaises(tavola.Unauthenticated) as caught:
            client.table("people").count()
        self.assertEqual(caught.exception.reason, "NO_AUTHENTICATION_INFORMATION")
        wrong = tavola.Account("acme", "tvk1." + "A" * 43)
        with tavola.Client(self.address, token=wrong, tls=self.authority) as client:
            with self.assertRaises(tavola.Unauthenticated) as caught:
                client.table("people").count()
        self.assertEqual(caught.exception.reason, "AUTHENTICATION_FAILED")
        with self.assertRaisesRegex(ValueError, "not a key of an account"):
            tavola.Account("acme", "secret")

    def test_a_token_does_not_travel_in_plain_text(self):
        with self.assertRaisesRegex(ValueError, "in plain text"):
            tavola.Client("db.example:50051", token="tvt1.x")
        with self.assertRaisesRegex(ValueError, "in plain text"):
            tavola.Client("localhost.example:50051", token="tvt1.x")
        for target in ("127.0.0.1:1", "localhost:1", "[::1]:1", "unix:/nobody"):
            tavola.Client(target, token="tvt1.x").close()


class Package(unittest.TestCase):
    def test_every_reason_has_a_class_of_its_code(self):
        page = pathlib.Path(SOURCE, "docs/errors.md").read_text(encoding="utf-8")
        codes = dict(re.findall(r"^\| `([A-Z_]+)` \| ([A-Z_]+) \|", page, re.M))
        self.assertGreater(len(codes), 50)
        self.assertLessEqual(set(codes.values()), set(errors.BY_CODE))
        for reason, kind in errors.BY_REASON.items():
            self.assertEqual(kind.code, codes.get(reason), reason)
        self.assertLessEqual(errors.NOTHING_DONE, set(codes))

    def test_the_page_has_every_option_of_an_index(self):
        page = pathlib.Path(SOURCE, "docs/python.md").read_text(encoding="utf-8").split("\n## Indexes\n")[1].split("\n## ")[0]
        declared, looked_up = (inspect.signature(one).parameters.values() for one in (declaration, tavola.Index.lookup))
        options = {one.name for one in [*declared, *looked_up] if one.kind is inspect.Parameter.KEYWORD_ONLY} | {"exist_ok"}
        self.assertEqual({name for name in options if f"`{name}`" not in page}, set())

    def test_it_is_installed_from_its_folder(self):
        """pip installs it with nothing but Debian's packages, and what is installed needs no source tree."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", folder], check=True)
            subprocess.run([sys.executable, "-m", "pip", "--python", f"{folder}/bin/python", "install", "--quiet", "--no-index",
                            os.path.join(SOURCE, "clients/python")], check=True, env=program_environment({}))
            shown = subprocess.run([f"{folder}/bin/python", "-c", "import tavola; print(tavola.__file__, len(tavola.client.METHODS))"],
                                   cwd="/", env={"PATH": "/nowhere"}, text=True, capture_output=True, check=True).stdout.split()
        self.assertTrue(shown[0].startswith(folder), shown)
        self.assertGreater(int(shown[1]), 30)


if __name__ == "__main__":
    unittest.main()
