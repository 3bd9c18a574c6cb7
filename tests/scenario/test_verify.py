# SPDX-License-Identifier: Apache-2.0
"""Verifying and repairing indexes by calls, beside writers, with the database damaged by hand in between."""

import os
import shutil
import tempfile
import threading
import unittest

from tavola_test import metrics
from tavola_test.case import ServerCase
from tavola_test.client import ImportEntitiesRequest, entity
from tavola_test.client import key as key_of
from tavola_test.processes import run_program
from tavola_test.stack import wait_ready
from tavola_test.waiting import wait_for

PEOPLE = 3000
MISSING, DANGLING, MISMATCHED, MANIFEST = 1, 2, 3, 4
FOUND, MENDED = 1, 2
FULL, FAST = 0, 1


def row(number):
    return f"r{number:05}"


class Writers:
    """Move people of a partition, other than those with keys below `first`, from city to city, until stopped."""

    PAUSE_SECONDS = 0.01  # ten writes or more in each pass of a verification, and time for the pass itself

    def __init__(self, client, table, first, partition="p"):
        self.client, self.table, self.first, self.partition = client, table, first, partition
        self.stopped, self.written, self.failure = threading.Event(), 0, None
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
        if self.failure:
            raise self.failure

    def run(self):
        try:
            while not self.stopped.is_set():
                number = self.first + self.written % (PEOPLE - self.first)
                self.client.insert_or_replace_entity(
                    table=self.table, entity=entity(self.partition, row(number), City=f"c{self.written % 7}"))
                self.written += 1
                self.stopped.wait(self.PAUSE_SECONDS)
        except Exception as error:  # for the test's own thread
            self.failure = error


class Verify(ServerCase):
    with_worker = True

    def setUp(self):
        self.table = self.new_table()
        list(self.client.import_entities([
            ImportEntitiesRequest(table=self.table, entities=[
                entity("p", row(number), City=f"c{number % 7}") for number in range(first, first + 1000)])
            for first in range(0, PEOPLE, 1000)]))
        self.index = self.new_index(self.table, "City")
        self.index_id = int(self.stack.sql(f"select index_id from indexes where name = '{self.index}'"))

    def report(self, call, **fields):
        operation = call(name=self.index, **fields).operation
        self.assertEqual(self.wait_done(operation).state, 3)
        return self.client.get_index_report(operation_id=operation.operation_id)

    def counts(self, report):
        return (report.missing, report.dangling, report.mismatched, report.manifests)

    def test_a_build_has_a_report_of_its_own(self):
        build = self.client.get_index(name=self.index).status.build
        reply = self.client.get_index_report(operation_id=build.operation_id)
        self.assertEqual((reply.report.sources, reply.report.entries), (PEOPLE, PEOPLE))
        self.assertEqual((self.counts(reply.report), len(reply.differences)), ((0, 0, 0, 0), 0))
        self.assertEqual((build.done, build.total), (3 * PEOPLE, 3 * PEOPLE))

    def damage(self):
        entries = f"table_id = {self.index_id} and row_key like"
        self.stack.sql(f"delete from entities where {entries} '%{row(10)}'")
        self.stack.sql(f"update entities set expires = 900000000000000000 where {entries} '%{row(20)}'")
        source = f"table_id = (select source_table_id from indexes where index_id = {self.index_id}) and row_key ="
        self.stack.sql(f"delete from index_state where {source} '{row(30)}'")
        self.stack.sql(f"update entities set dead = true, properties = '' where {source} '{row(40)}'")

    def test_damage_is_found_and_mended_beside_writers(self):
        with Writers(self.stack.connect(), self.table, 100) as writers:
            whole = self.report(self.client.verify_index)
            self.assertEqual(self.counts(whole.report), (0, 0, 0, 0))
            self.assertEqual(whole.report.sources, PEOPLE)
            self.damage()
            found = self.report(self.client.verify_index)
            self.assertEqual(self.counts(found.report), (1, 1, 1, 1))
            self.assertEqual(
                {difference.source.row_key: difference.kind for difference in found.differences},
                {row(10): MISSING, row(20): MISMATCHED, row(30): MANIFEST, row(40): DANGLING})
            self.assertEqual({difference.state for difference in found.differences}, {FOUND})
            fast = self.report(self.client.verify_index, mode=FAST)
            self.assertEqual((fast.report.mode, self.counts(fast.report)), (FAST, (1, 1, 0, 1)))
            status = self.client.get_index(name=self.index).status
            self.assertEqual(status.verified.operation_id, fast.report.operation_id)

            would = self.report(self.client.repair_index, dry_run=True)
            self.assertEqual(self.counts(would.report), (1, 1, 1, 1))
            mended = self.report(self.client.repair_index, report_id=found.report.operation_id)
            self.assertEqual((mended.report.mended, mended.report.remaining), (4, 0))
            self.assertEqual({difference.state for difference in mended.differences}, {MENDED})
            self.assertEqual(self.counts(self.report(self.client.verify_index).report), (0, 0, 0, 0))
            self.assertGreater(writers.written, 0)

    def test_evidence_says_what_is_there_and_what_should_be(self):
        self.damage()
        by_kind = {difference.kind: difference for difference in self.report(self.client.verify_index).differences}
        self.assertEqual(by_kind[MISSING].entry_digest, "")
        self.assertEqual(len(by_kind[MISSING].wanted_digest), 16)
        self.assertNotEqual(by_kind[MISMATCHED].entry_digest, by_kind[MISMATCHED].wanted_digest)
        self.assertEqual((by_kind[DANGLING].wanted_digest, by_kind[DANGLING].source_version), ("", 0))
        self.assertEqual(by_kind[MANIFEST].entry_digest, by_kind[MANIFEST].wanted_digest)

    def test_a_range_and_keys(self):
        self.damage()
        ends = {"from": {"partition_key": "p", "row_key": row(15)}, "below": {"partition_key": "p", "row_key": row(31)}}
        self.assertEqual(self.counts(self.report(self.client.repair_index, range=ends).report), (0, 0, 1, 1))
        keys = [key_of(("p", row(10))), key_of(("p", row(11)))]
        self.assertEqual(self.counts(self.report(self.client.verify_index, keys=keys).report), (1, 0, 0, 0))
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.verify_index,
                     name=self.index, keys=keys, range=ends)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.repair_index,
                     name=self.index, keys=keys, report_id="verify-1")
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.verify_index, name=self.index, keys=keys, mode=FAST)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.verify_index, name=self.index, mode=2)

    def tavola(self, *words):
        done = run_program("tavola", *words, settings={"TAVOLA_TARGET": self.stack.target})
        return done.returncode, done.stdout

    def test_commands_verify_and_repair(self):
        self.assertEqual(self.tavola("index", "verify", self.index, "--fast")[0], 0)
        self.damage()
        code, said = self.tavola("index", "verify", self.index)
        self.assertEqual(code, 1)
        self.assertIn("missing=1 dangling=1 mismatched=1 manifests=1", said)
        self.assertIn(f"source=(p, {row(10)})", said)
        operation = said.split()[0]
        self.assertEqual(self.tavola("index", "report", operation), (1, said))
        self.assertEqual(self.tavola("index", "repair", self.index, "--dry-run")[0], 1)
        code, said = self.tavola("index", "repair", self.index)
        self.assertEqual(code, 0)
        self.assertIn("mended=4 remaining=0", said)
        self.assertEqual(self.tavola("index", "verify", self.index)[0], 0)
        self.assertEqual(self.tavola("index", "verify", self.index, "--slow")[0], 2)
        self.assertEqual(self.tavola("index", "verify", "nowhere")[0], 1)

    def test_a_value_and_a_range_of_values(self):
        self.damage()
        city = {"string_value": "c3"}  # of the row 10, whose entry is missing
        self.assertEqual(self.counts(self.report(self.client.verify_index, equals=[city]).report), (1, 0, 0, 0))
        self.assertEqual(self.counts(self.report(self.client.verify_index, equals=[city], mode=FAST).report), (1, 0, 0, 0))
        first = {"at_least": {"string_value": "p"}}
        self.assertEqual(
            self.counts(self.report(self.client.repair_index, equals=[city], values=first, dry_run=True).report), (1, 0, 0, 0))
        self.assertEqual(self.counts(self.report(self.client.verify_index, equals=[{"string_value": "no"}]).report), (0, 0, 0, 0))
        for wrong in ({"equals": [city] * 9}, {"equals": [{}]}, {"equals": [city], "keys": [key_of(("p", "r"))]},
                      {"values": {"at_least": {"string_value": "a"}, "below": {"int32_value": 1}}}):
            self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.verify_index, name=self.index, **wrong)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.repair_index,
                     name=self.index, equals=[city], report_id="verify-1")

    def test_reports_are_read_by_pages_and_by_their_account_alone(self):
        self.damage()
        first = self.report(self.client.verify_index)
        operation_id, kinds, token = first.report.operation_id, [], ""
        while True:
            page = self.client.get_index_report(operation_id=operation_id, page_size=1, page_token=token)
            kinds += [difference.kind for difference in page.differences]
            token = page.next_page_token
            if not token:
                break
        self.assertEqual(kinds, [difference.kind for difference in first.differences])
        self.refused("NOT_FOUND", "REPORT_NOT_FOUND", self.client.get_index_report, operation_id="verify-0")
        self.refused("NOT_FOUND", "INDEX_NOT_FOUND", self.client.verify_index, name="nowhere")

    def test_it_can_be_cancelled(self):
        operation = self.client.verify_index(name=self.index).operation
        self.client.control_operation(operation_id=operation.operation_id, control=4, rows_per_second=1)
        cancelled = self.client.control_operation(operation_id=operation.operation_id, control=3).operation
        self.assertEqual(cancelled.state, 5)
        report = self.client.get_index_report(operation_id=operation.operation_id).report
        self.assertEqual(report.state, 5)
        self.assertLess(report.sources + report.entries, 2 * PEOPLE)


class Damage(ServerCase):
    """All kinds of damage at once in an index of TEST_DAMAGE_ENTRIES entries, beside writers: each mode finds what it promises, and
    a repair mends exactly that."""

    with_worker = True
    ENTRIES = int(os.environ.get("TEST_DAMAGE_ENTRIES", "6300"))
    DAMAGE = {
        row(10): ("delete from entities where table_id = {index} and row_key like 'p%{row}'", MISSING),
        row(20): ("insert into entities (bucket, table_id, partition_key, row_key, version, ts, properties) select bucket, table_id,"
                  " partition_key, 'added{row}', version, ts, properties from entities where table_id = {index}"
                  " and row_key like 'p%{row}'", DANGLING),
        row(30): ("update entities set expires = 900000000000000000, version = version + 1 where table_id = {index}"
                  " and row_key like 'p%{row}'", MISMATCHED),
        row(40): ("update index_state s set manifest = (select o.manifest from index_state o where o.table_id = s.table_id"
                  " and o.partition_key = 'p' and o.row_key = '" + row(41) + "') where table_id = {source} and partition_key = 'p' and row_key = '{row}'", MANIFEST),
        row(50): ("delete from index_state where table_id = {source} and partition_key = 'p' and row_key = '{row}'", MANIFEST),
        row(60): ("update entities set dead = true, properties = '' where table_id = {source} and partition_key = 'p' and row_key = '{row}'", DANGLING),
    }
    UNDER_ITS_VERSION = ("update entities set expires = 900000000000000000 where table_id = {index} and row_key like 'p%{row}'",
                         MISMATCHED)
    REST = """
select md5(string_agg(t, ' ' order by t)) from (
    select e.ctid::text || e.xmin || e::text from entities e
    where table_id in ({source}, {index}) and (partition_key = 'p' or row_key like 'p%') and row_key !~ '({rows})$'
    union all
    select s.ctid::text || s.xmin || s::text from index_state s
    where table_id = {source} and partition_key = 'p' and row_key !~ '({rows})$') x(t)"""

    def setUp(self):
        self.table = self.new_table()
        list(self.client.import_entities([
            ImportEntitiesRequest(table=self.table, entities=[
                entity("p", row(number), City=f"c{number % 97}") for number in range(first, min(first + 1000, self.ENTRIES))])
            for first in range(0, self.ENTRIES, 1000)]))
        self.index = self.new_name("i")
        self.client.create_index(index={
            "name": self.index, "table": self.table, "shape": 1, "place": 2, "partition_key": [{"property": "City"}]})
        wait_ready(self.client, self.index, 200)
        ids = self.stack.sql(f"select index_id, source_table_id from indexes where name = '{self.index}'").split("|")
        self.names = {"index": ids[0], "source": ids[1], "rows": "|".join([*self.DAMAGE, row(70)])}

    def verify(self, call, **fields):
        operation = call(name=self.index, **fields).operation
        reply = self.client.wait_operation(operation_id=operation.operation_id, timeout=200)
        self.assertEqual(reply.operation.state, 3, reply)
        return self.client.get_index_report(operation_id=operation.operation_id)

    def found(self, report):
        return sorted((difference.source.row_key, difference.kind) for difference in report.differences)

    def test_each_mode_finds_what_it_promises_and_exactly_that_is_mended(self):
        with Writers(self.stack.connect(), self.table, 0, "w") as writers:
            damage = {**self.DAMAGE, row(70): self.UNDER_ITS_VERSION}
            for key, (statement, _) in damage.items():
                self.stack.sql(statement.format(row=key, **self.names))
            before = self.stack.sql(self.REST.format(**self.names))
            fast = self.verify(self.client.verify_index, mode=FAST)
            full = self.verify(self.client.verify_index)
            self.assertEqual(self.found(fast), sorted((key, kind) for key, (_, kind) in self.DAMAGE.items()))
            self.assertEqual(self.found(full), sorted((key, kind) for key, (_, kind) in damage.items()))
            self.assertGreaterEqual(full.report.sources, self.ENTRIES - 1)
            mended = self.verify(self.client.repair_index)
            self.assertEqual((mended.report.mended, mended.report.remaining), (len(damage), 0))
            for mode in (FAST, FULL):
                self.assertEqual(self.found(self.verify(self.client.verify_index, mode=mode)), [])
            self.assertEqual(self.stack.sql(self.REST.format(**self.names)), before)
            self.assertGreater(writers.written, 0)


class Scrub(ServerCase):
    """The scrub of a worker that may take all the time it wants."""

    with_worker = True
    @classmethod
    def setUpClass(cls):
        path = os.path.join(tempfile.mkdtemp(prefix="ts-"), "m")
        cls.addClassCleanup(shutil.rmtree, os.path.dirname(path))
        cls.metrics_path = path
        cls.worker_settings = {"TAVOLA_SCRUB_SHARE": "100", "TAVOLA_WORKER_METRICS_LISTEN": "unix:" + path}
        super().setUpClass()

    def verified(self, index):
        return self.client.get_index(name=index).status.verified

    def gauge(self, name, index):
        return metrics.read(self.metrics_path).value(name, account="default", index=index)

    def test_every_index_is_verified_and_damage_is_told_and_left(self):
        table = self.new_table()
        self.client.load(table, [entity("p", row(number), City="c") for number in range(100)])
        index = self.new_index(table, "City")
        wait_for("the first pass", lambda: self.verified(index).operation_id)
        first = self.verified(index)
        self.assertTrue(first.operation_id.startswith("scrub-"))
        self.assertEqual((first.mode, first.sources, first.entries, first.whole), (FULL, 100, 100, True))
        wait_for("the proof", lambda: self.gauge("tavola_index_proven_timestamp_seconds", index) > 0)

        self.stack.sql("delete from entities where row_key like '%r00010' and table_id ="
                       f" (select index_id from indexes where name = '{index}')")
        self.stack.sql("update index_scrubs set begun = '-infinity'")
        wait_for("the difference", lambda: self.verified(index).missing == 1)
        wait_for("its gauge", lambda: self.gauge("tavola_index_differences", index) == 1)
        self.refused("FAILED_PRECONDITION", "OPERATION_NOT_CONTROLLABLE", self.client.control_operation,
                     operation_id=self.verified(index).operation_id, control=3)
        report = self.client.get_index_report(operation_id=self.verified(index).operation_id)
        self.assertEqual([(difference.kind, difference.state) for difference in report.differences], [(MISSING, FOUND)])


if __name__ == "__main__":
    unittest.main()
