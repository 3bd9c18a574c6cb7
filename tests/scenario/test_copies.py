# SPDX-License-Identifier: Apache-2.0
"""Copies of properties that workers keep by a rule: what the rule keeps, what it refuses, and what verification and repair find."""

import os
import re
import threading
import unittest

from tavola_test import metrics
from tavola_test.case import ServerCase
from tavola_test.client import BatchOperation, ImportEntitiesRequest, entity, int32, key, match, plain, value, when
from tavola_test.feed import Watch
from tavola_test.processes import run_program
from tavola_test.waiting import wait_for

STRONG, EVENTUAL, LIST = 1, 2, 2
PAUSE, RESUME = 1, 2
COPYING = 3
COPY_MISSING, COPY_WRONG, COPY_SUPERFLUOUS = 5, 6, 7
FOUND, MENDED = 1, 2
NAMED = {"source_partition_key": {"property": "PartitionKey"}, "source_row_key": {"property": "Manager"}}
CONFLICT = ("FAILED_PRECONDITION", "COPY_RULE_CONFLICT")
INVALID = ("INVALID_ARGUMENT", "INVALID_INPUT")
LARGE = {f"P{number}": b"x" * 60_000 for number in range(17)}


class CopyCase(ServerCase):
    """Managers, and departments that name them; all in the partition `sales`."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.metrics_path = os.path.join(cls.stack.folder, "mw")
        cls.stack.start_worker(TAVOLA_SWEEP_INTERVAL_SECONDS="1", TAVOLA_WORKER_METRICS_LISTEN="unix:" + cls.metrics_path)

    def pause(self, **kind):
        """No work, or none of this kind, is begun from now on."""
        self.addCleanup(self.client.control_queue, control=RESUME)
        held = sum(len(queue.work) for queue in self.client.control_queue(control=PAUSE, **kind).queues)
        wait_for("the worker to follow", lambda: metrics.read(self.metrics_path).value("tavola_queue_paused") == held, 10)

    def hints(self):
        """How many hints were ever put into the queue, and how many are in it."""
        said = self.stack.redis_command("XINFO", "STREAM", "tavola:{q0}:intents").decode()
        return [int(re.search(rf"\b{field}\r\n:(\d+)", said)[1]) for field in ("entries-added", "length")]

    def watch(self, table):
        found = Watch(self.client, table).begin()
        self.addCleanup(found.close)
        return found

    def setUp(self):
        self.managers, self.departments = self.new_table(), self.new_table()

    def declaration(self, name="", properties=None, source="", table="", index=None, **rule):
        return {"name": name or self.new_name("rule"), "table": table or self.departments, "shape": 1, **(index or {}), "copies": {
            "source_table": source or self.managers, "properties": properties or {"ManagerName": "Name"}, **NAMED, **rule}}

    def create(self, **fields):
        """Declare a rule, and wait until it is built; returns its index."""
        declared = self.declaration(**fields)
        self.client.create_index(index=declared)
        self.wait_ready(declared["name"])
        return declared["name"]

    def manager(self, row, **properties):
        return self.client.insert_or_replace_entity(table=self.managers, entity=entity("sales", row, properties)).result

    def department(self, row, **properties):
        return self.client.insert_or_replace_entity(table=self.departments, entity=entity("sales", row, properties)).result

    def many_departments(self, count, first=0, **properties):
        list(self.client.import_entities([ImportEntitiesRequest(table=self.departments, entities=[
            entity("sales", f"{first + number:05}", {"Manager": "1", **properties}) for number in range(count)])]))

    def delete(self, table, row):
        return self.client.delete_entity(table=table, key=key(("sales", row)), precondition=match()).result

    def copies(self, name="ManagerName"):
        return {one.row_key: plain(one).get(name) for one in self.client.query(self.departments)}

    def etags(self):
        return {one.row_key: one.etag for one in self.client.query(self.departments)}

    def status(self, rule):
        return self.client.get_index(name=rule).status.copies

    def wait_until_kept(self, *rules):
        """No source waits, and no dependent."""

        def waiting():
            return [count for status in map(self.status, rules) for count in (status.waiting_sources, status.waiting_dependents)]

        wait_for("the copies", lambda: not any(waiting()), 60)

    def kept(self, rule):
        self.wait_until_kept(rule)
        return self.copies()

    def report(self, rule, call=None, **fields):
        operation = (call or self.client.verify_index)(name=rule, **fields).operation
        self.wait_done(operation)
        return self.client.get_index_report(operation_id=operation.operation_id)

    def differences(self, rule):
        found = self.report(rule)
        counts = (found.report.missing, found.report.dangling, found.report.mismatched, found.report.manifests)
        self.assertEqual(counts, (0, 0, 0, 0))
        self.assertEqual(found.report.copies, len(found.differences))
        return [(one.source.row_key, one.kind, one.property, one.state) for one in found.differences]


class Copies(CopyCase):
    def test_changes_of_either_side_reach_the_copies(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1", Floor=7)
        rule = self.create()
        self.assertEqual(self.copies(), {"a": "Ada"})
        self.manager("1", Name="Ada Lovelace")
        self.manager("2", Name="Grace")
        self.department("b", Manager="2")
        self.department("c", Manager="nobody", ManagerName="left over")
        self.department("d", ManagerName="left over")
        self.department("e", Manager=int32(1), ManagerName="left over")
        self.assertEqual(self.kept(rule), {"a": "Ada Lovelace", "b": "Grace", "c": None, "d": None, "e": None})
        self.client.insert_or_merge_entity(table=self.departments, entity=entity("sales", "a", Manager="2"))
        self.wait_until_kept(rule)
        self.assertEqual(plain(self.get(self.departments, "sales", "a")), {"Manager": "2", "ManagerName": "Grace", "Floor": 7})
        self.assertEqual(self.differences(rule), [])

    def test_every_kind_of_write_brings_its_copies(self):
        self.manager("1", Name="Ada")
        rule, other = self.create(), self.new_table()
        self.client.execute_batch(table=self.departments, operations=[
            BatchOperation(insert=entity("sales", row, Manager="1")) for row in ("batch1", "batch2")])
        self.many_departments(3)
        self.client.insert_entity(table=other, entity=entity("sales", "moved", Manager="1"))
        self.client.submit_transaction(transaction_id=rule, steps=[
            {"insert_or_replace": {"table": self.departments, "entity": entity("sales", "step", Manager="1")}},
            {"move": {"source": {"table": other, "key": key(("sales", "moved"))},
                      "destination": {"table": self.departments, "key": key(("sales", "moved"))}}},
            {"insert_or_replace": {"table": self.managers, "entity": entity("sales", "1", Name="Grace")}}])
        self.client.wait_transaction(transaction_id=rule)
        rows = ["00000", "00001", "00002", "batch1", "batch2", "moved", "step"]
        self.assertEqual(self.kept(rule), dict.fromkeys(rows, "Grace"))

    def test_a_look_up_with_the_token_of_a_write_sees_the_copies(self):
        self.manager("1", Name="Ada")
        self.many_departments(250)
        rule = self.create()
        written = self.manager("1", Name="Grace")
        found = self.client.lookup_index(index=rule, equals=[value("sales"), value("1")], freshness={"at_least": [written.consistency_token]})
        self.assertEqual({plain(one)["ManagerName"] for one in found.entities}, {"Grace"})
        self.assertEqual(set(self.copies().values()), {"Grace"})
        written = self.department("a", Manager="1")
        found = self.client.lookup_index(index=rule, equals=[value("sales"), value("1")], page_size=1000,
                                         freshness={"at_least": [written.consistency_token]})
        self.assertEqual({plain(one).get("ManagerName") for one in found.entities}, {"Grace"})

    def test_the_token_of_a_source_does_not_wait_for_a_dependent_that_came_back(self):
        """It was away when the source was visited, so its copy is its own work."""
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        rule = self.create()
        self.pause(kind=COPYING)
        self.client.insert_or_merge_entity(table=self.departments, entity=entity("sales", "a", Manager="2"))
        of_source = self.manager("1", Name="Grace").consistency_token
        wait_for("the visit", lambda: self.status(rule).waiting_sources == 0, 60)
        back = self.client.insert_or_merge_entity(table=self.departments, entity=entity("sales", "a", Manager="1"))

        def names(token):
            found = self.client.lookup_index(index=rule, equals=[value("sales"), value("1")], freshness={"at_least": [token]})
            return [plain(one)["ManagerName"] for one in found.entities]

        self.assertEqual(names(of_source), ["Ada"])
        self.client.control_queue(control=RESUME)
        self.assertEqual(names(back.result.consistency_token), ["Grace"])

    def test_a_short_look_up_waits_too(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        rule = self.create()
        for number in range(20):
            written = self.manager("1", Name=f"{number}")
            found = self.client.lookup_index(index=rule, equals=[value("sales"), value("1")], freshness={"at_least": [written.consistency_token]})
            self.assertEqual([plain(one)["ManagerName"] for one in found.entities], [f"{number}"])

    def test_a_copy_that_a_caller_writes_is_written_over(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        rule = self.create()
        self.department("a", Manager="1", ManagerName="somebody else")
        self.assertEqual(self.kept(rule), {"a": "Ada"})
        self.department("a", Manager="1")
        self.assertEqual(self.kept(rule), {"a": "Ada"})

    def test_a_copy_is_a_write_of_the_dependent_and_nothing_is_written_twice(self):
        self.manager("1", Name="Ada")
        before = self.department("a", Manager="1").etag
        rule = self.create()
        written = self.etags()["a"]
        self.assertNotEqual(written, before)
        self.manager("1", Name="Ada", Phone=10)
        self.client.insert_or_merge_entity(table=self.departments, entity=entity("sales", "a", ManagerName="Ada"))
        merged = self.etags()["a"]
        self.wait_until_kept(rule)
        self.assertEqual(self.etags()["a"], merged)
        self.refused("ABORTED", "UPDATE_CONDITION_NOT_SATISFIED", self.client.replace_entity, table=self.departments,
                     entity=entity("sales", "a"), precondition=match(written))

    def test_the_change_feed_of_the_dependents_tells_of_copies(self):
        departments = self.new_name()
        self.client.create_table(name=departments, change_feed=True)
        self.departments = departments
        self.manager("1", Name="Ada")
        rule = self.create()
        watch = self.watch(departments)
        self.department("a", Manager="1")
        self.wait_until_kept(rule)
        self.assertEqual([plain(one.entity).get("ManagerName") for one in watch.until(2)], [None, "Ada"])

    def test_the_copies_of_a_deleted_source_are_removed_or_stay(self):
        for keep, left in ((False, None), (True, "Ada")):
            with self.subTest(keep=keep):
                self.setUp()
                self.manager("1", Name="Ada", Born=1815)
                self.department("a", Manager="1")
                rule = self.create(keep=keep, properties={"ManagerName": "Name", "Born": "Born"})
                self.manager("1", Name="Ada")
                self.wait_until_kept(rule)
                self.assertNotIn("Born", plain(self.get(self.departments, "sales", "a")))
                self.delete(self.managers, "1")
                self.assertEqual(self.kept(rule), {"a": left})
                self.assertEqual(self.differences(rule), [])

    def test_the_copies_of_sources_that_expire_or_are_deleted_by_range_are_removed(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        self.department("b", Manager="2")
        rule = self.create()
        bob = entity("sales", "2", Name="Bob")
        bob.expires.CopyFrom(when(1_000_000_000).datetime_value)
        self.client.insert_entity(table=self.managers, entity=bob)
        left = ("select count(*) from entities where row_key = '2' and not dead "
                f"and table_id = (select table_id from tables where name = '{self.managers}')")
        wait_for("the sweeper", lambda: self.stack.sql(left) == "0", 30)
        self.assertEqual(self.kept(rule), {"a": "Ada", "b": None})
        self.wait_done(self.client.delete_range(query={"table": self.managers, "filter": "RowKey eq '1'"}).operation)
        self.assertEqual(self.kept(rule), {"a": None, "b": None})

    def test_a_copy_says_which_version_it_is_of(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        rule = self.create(version_property="ManagerVersion")
        for phone in (10, 11):
            written = self.manager("1", Name="Ada", Phone=phone)
            self.wait_until_kept(rule)
            self.assertEqual(self.copies("ManagerVersion"), {"a": written.etag})
        self.delete(self.managers, "1")
        self.wait_until_kept(rule)
        self.assertEqual(plain(self.get(self.departments, "sales", "a")), {"Manager": "1"})

    def test_a_dependent_that_expires_keeps_its_time(self):
        until = when(4_000_000_000)
        self.manager("1", Name="Ada")
        one = entity("sales", "a", Manager="1")
        one.expires.CopyFrom(until.datetime_value)
        self.client.insert_entity(table=self.departments, entity=one)
        rule = self.create()
        self.delete(self.managers, "1")
        self.assertEqual(self.kept(rule), {"a": None})
        self.assertEqual(self.get(self.departments, "sales", "a").expires, until.datetime_value)

    def test_source_and_dependent_may_be_in_one_table(self):
        self.departments = self.managers
        self.department("1", Manager="2", Name="Ada")
        self.department("2", Manager="1", Name="Grace")
        self.department("3", Manager="3", Name="Alone")
        rule = self.create()
        self.assertEqual(self.copies(), {"1": "Grace", "2": "Ada", "3": "Alone"})
        self.client.insert_or_merge_entity(table=self.managers, entity=entity("sales", "2", Name="Grace Hopper"))
        self.assertEqual(self.kept(rule), {"1": "Grace Hopper", "2": "Ada", "3": "Alone"})

    def test_a_copy_may_be_the_source_of_another_rule(self):
        offices = self.new_table()
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        self.client.insert_entity(table=offices, entity=entity("sales", "o", Department="a"))
        first = self.create()
        second = self.create(table=offices, source=self.departments, properties={"HeadName": "ManagerName"},
                             source_row_key={"property": "Department"})
        self.manager("1", Name="Ada Lovelace")
        wait_for("the copy of the copy", lambda: plain(self.get(offices, "sales", "o")).get("HeadName") == "Ada Lovelace", 30)
        self.wait_until_kept(first, second)
        self.assertEqual((self.differences(first), self.differences(second)), ([], []))

    def test_a_name_that_is_no_key_names_nothing(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        self.department("b", Manager="a/b", ManagerName="left over")
        self.department("c", Manager="x" * 600, ManagerName="left over")
        rule = self.create()
        self.assertEqual(self.copies(), {"a": "Ada", "b": None, "c": None})
        self.department("d", Manager="a\\b", ManagerName="left over")
        self.assertEqual(self.kept(rule), {"a": "Ada", "b": None, "c": None, "d": None})

    def test_one_source_with_many_dependents_does_not_hold_up_another(self):
        departments = self.new_name()
        self.client.create_table(name=departments, change_feed=True)
        self.departments = departments
        self.manager("1", Name="Ada")
        self.manager("2", Name="Grace")
        self.many_departments(2000)
        self.department("last", Manager="2")
        rule = self.create()
        watch = self.watch(departments)
        self.pause()
        added, _ = self.hints()
        self.manager("1", Name="Ada Lovelace")
        self.manager("2", Name="Grace Hopper")
        self.assertEqual(self.status(rule).waiting_sources, 2)
        # From here on the relay finds both together: of two hints, one could be held back and the other not, and it looks
        # only for intents that are a second old.
        wait_for("the hints to be held back", lambda: self.hints() == [added + 2, 0], 10)
        wait_for("both to be old enough",
                 lambda: metrics.read(self.metrics_path).value("tavola_queue_lag_seconds", kind="visit") > 2, 30)
        self.client.control_queue(control=RESUME)
        rows = [change.entity.row_key for change in watch.until(2001)]
        self.assertLess(rows.index("last"), 2000)
        self.assertEqual(set(self.copies().values()), {"Ada Lovelace", "Grace Hopper"})


class Refusals(CopyCase):
    """Dependents that cannot have their copies."""

    def test_a_dependent_that_cannot_have_its_copy_is_noted_and_does_not_hold_up_others(self):
        self.manager("1", Name="x" * 30_000)
        self.department("a", Manager="1", **LARGE)
        self.department("b", Manager="1")
        rule = self.create()
        self.assertEqual(self.copies(), {"a": None, "b": "x" * 30_000})
        self.assertEqual(self.status(rule).refused, 1)
        letter, = (one for one in self.client.list_dead_letters().dead_letters if one.index == rule)
        self.assertEqual(letter.key, key(("sales", "a")))
        self.assertRegex(letter.cause, "1 MiB|1048576|too large|bytes")
        preview = {"dead_letter_ids": [letter.dead_letter_id], "dry_run": True}
        difference, = self.client.redrive_dead_letters(**preview).differences
        self.assertEqual((difference.violations, difference.copies), (1, 0))
        self.department("a", Manager="1")
        self.assertEqual(self.kept(rule), dict.fromkeys("ab", "x" * 30_000))
        self.assertEqual(self.status(rule).refused, 0)

    def test_a_change_of_the_source_tries_again(self):
        self.manager("1", Name="x" * 30_000)
        self.department("a", Manager="1", **LARGE)
        rule = self.create()
        self.assertEqual(self.status(rule).refused, 1)
        self.manager("1", Name="Ada")
        self.assertEqual((self.kept(rule), self.status(rule).refused), ({"a": "Ada"}, 0))
        self.assertEqual(self.differences(rule), [])

    def test_a_refusal_goes_with_its_dependent(self):
        self.manager("1", Name="x" * 30_000)
        self.department("a", Manager="1", **LARGE)
        rule = self.create()
        self.delete(self.departments, "a")
        self.wait_until_kept(rule)
        self.assertEqual(self.status(rule).refused, 0)

    def test_dependents_that_are_too_large_for_one_step_have_their_copies(self):
        self.manager("1", Name="Ada")
        for row in range(6):
            self.department(f"{row}", Manager="1", **dict(list(LARGE.items())[:15]))
        rule = self.create()
        self.assertEqual(set(self.copies().values()), {"Ada"})
        self.delete(self.managers, "1")
        self.assertEqual(set(self.kept(rule).values()), {None})
        self.assertEqual([len(one.properties) for one in self.client.query(self.departments)], [16] * 6)


class Declarations(CopyCase):
    def refused_rule(self, refusal, **fields):
        return self.refused(*refusal, self.client.create_index, index=self.declaration(**fields))

    def test_a_rule_is_shown_as_it_was_declared_with_what_its_index_needs(self):
        rule = self.create(properties={"ManagerName": "Name", "Phone": "Phone"}, version_property="Version", keep=True,
                           source_partition_key={"literal": "sales"})
        index = self.client.get_index(name=rule).index
        self.assertEqual((index.consistency, index.place, index.projection.keys_only), (STRONG, 2, True))
        self.assertEqual([one.property for one in index.partition_key], ["Manager"])
        self.assertEqual((index.copies.source_table, dict(index.copies.properties), index.copies.keep, index.copies.version_property),
                         (self.managers, {"ManagerName": "Name", "Phone": "Phone"}, True, "Version"))
        self.assertEqual((index.copies.source_partition_key.literal, index.copies.source_row_key.property), ("sales", "Manager"))

    def test_what_contradicts_itself_is_refused_and_changes_nothing(self):
        for refusal, fields in [*((("INVALID_ARGUMENT", "PROPERTY_NAME_INVALID"), fields) for fields in (
            {"properties": {"RowKey": "Name"}},
            {"properties": {"Timestamp": "Name"}},
            {"properties": {"": "Name"}},
            {"properties": {"ManagerName": ""}},
            {"properties": {"ManagerName": "RowKey"}},
            {"version_property": "RowKey"},
        )), *((INVALID, fields) for fields in (
            {"source_partition_key": {"literal": "a"}, "source_row_key": {"literal": "b"}},
            {"source_row_key": {}},
            {"properties": {"Manager": "Name"}},
            {"properties": {f"P{n}": "Name" for n in range(65)}},
            {"version_property": "ManagerName"},
            {"version_property": "Manager"},
            {"index": {"shape": LIST}},
            {"index": {"consistency": EVENTUAL}},
            {"index": {"unique": True}},
            {"index": {"place": 1}},
            {"index": {"filter": "Floor eq 1"}},
            {"index": {"partition_key": [{"property": "Floor"}]}},
        ))]:
            with self.subTest(fields):
                error = self.refused_rule(refusal, **fields)
                self.assertTrue(error.fields or "index" in error.message, error)
        self.assertEqual([one for one in self.client.list_indexes().indexes if one.index.table == self.departments], [])
        self.refused_rule(("NOT_FOUND", "TABLE_NOT_FOUND"), source="nosuch")
        self.refused_rule(("NOT_FOUND", "TABLE_NOT_FOUND"), table="nosuch")

    def test_tables_of_other_kinds_are_refused(self):
        wide, blobs = self.new_name(), self.new_name()
        self.client.create_table(name=wide, wide_entities=True)
        self.client.create_table(name=blobs, blob_properties=True)
        for fields in ({"source": wide}, {"table": wide}, {"table": blobs}):
            with self.subTest(fields):
                self.refused_rule(INVALID, **fields)
        rule = self.create()
        error = self.refused(*CONFLICT, self.client.update_table, table={"name": self.departments, "blob_properties": True},
                             update_mask={"paths": ["blob_properties"]})
        self.assertIn(rule, error.message)
        self.refused_rule(("FAILED_PRECONDITION", "INDEX_OWNED"), source=rule, table=self.new_table())

    def test_two_rules_for_one_property_are_refused(self):
        rule, staff = self.create(), self.new_table()
        self.create(properties={"ManagerPhone": "Phone"})
        self.assertEqual(self.refused_rule(CONFLICT, source=staff).metadata["index"], rule)

    def test_a_circle_of_rules_is_refused_and_a_chain_is_not(self):
        offices = self.new_table()
        self.create()
        self.create(table=offices, source=self.departments, properties={"HeadName": "ManagerName"}, source_row_key={"property": "Department"})
        self.refused_rule(CONFLICT, table=self.managers, source=offices, properties={"Name": "HeadName"},
                          source_row_key={"property": "Office"})
        self.refused_rule(CONFLICT, table=self.managers, source=self.managers, properties={"Name": "Name"})

    def test_of_two_rules_that_are_declared_at_once_one_sees_the_other(self):
        refused = []

        def declare(client, declared):
            try:
                client.create_index(index=declared)
            except Exception as error:  # the test looks at it
                refused.append(error)

        for _ in range(5):
            with self.subTest():
                self.setUp()
                refused.clear()
                both = [self.declaration(), self.declaration(table=self.managers, source=self.departments, properties={"Name": "ManagerName"},
                                                             source_row_key={"property": "Department"})]
                threads = [threading.Thread(target=declare, args=(self.stack.connect(), one)) for one in both]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                self.assertEqual([error.reason for error in refused], ["COPY_RULE_CONFLICT"])

    def test_a_rule_stays_as_it_is(self):
        rule = self.create()
        self.refused(*INVALID, self.client.update_index, name=rule, consistency=EVENTUAL)
        self.refused(*INVALID, self.client.replace_index, index=self.declaration(name=rule))
        other = self.new_index(self.departments, "Floor")
        self.refused(*INVALID, self.client.replace_index, index=self.declaration(name=other))

    def test_a_source_table_is_kept_until_its_rules_are_dropped(self):
        rule = self.create()
        error = self.refused(*CONFLICT, self.client.delete_table, name=self.managers)
        self.assertEqual(error.metadata["index"], rule)
        self.client.drop_index(name=rule)
        self.client.delete_table(name=self.managers)

    def test_the_dependents_table_goes_with_its_rule_and_may_be_made_anew(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        rule = self.create()
        self.client.delete_table(name=self.departments)
        self.refused("NOT_FOUND", "INDEX_NOT_FOUND", self.client.get_index, name=rule)
        self.client.create_table(name=self.departments)
        self.department("a", Manager="1")
        self.manager("1", Name="Grace")
        self.create(name=rule)
        self.assertEqual(self.copies(), {"a": "Grace"})

    def test_a_dropped_rule_leaves_its_copies(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        rule = self.create()
        self.wait_done(self.client.drop_index(name=rule).operation)
        self.manager("1", Name="Grace")
        self.department("b", Manager="1")
        self.create(properties={"Phone": "Phone"})
        self.assertEqual(self.copies(), {"a": "Ada", "b": None})

    def test_a_rule_that_is_dropped_during_a_visit_leaves_no_work(self):
        self.manager("1", Name="Ada", Phone=10)
        self.many_departments(150)
        rule = self.create()
        self.pause()
        self.manager("1", Name="Grace", Phone=11)
        self.department("a", Manager="1")
        dropped = self.client.drop_index(name=rule).operation
        self.create(name=rule, properties={"ManagerPhone": "Phone"})
        self.client.control_queue(control=RESUME)
        self.wait_done(dropped)
        self.wait_until_kept(rule)
        self.assertEqual(set(self.copies("ManagerPhone").values()), {11})
        self.assertEqual(set(self.copies().values()), {"Ada", None})
        wait_for("no work", lambda: self.stack.sql("select (select count(*) from intents) + (select count(*) from copy_visits)") == "0", 30)


class Verification(CopyCase):
    """Damage that no intent tells of: rows of the database are changed by hand."""

    def damage(self, row, text, other):
        changed = self.stack.sql(
            f"with changed as (update entities set properties = overlay(properties placing '{other}'::bytea "
            f"from position('{text}'::bytea in properties)) where row_key = '{row}' and position('{text}'::bytea in properties) > 0 "
            f"and table_id = (select table_id from tables where name = '{self.departments}') returning 1) select count(*) from changed")
        self.assertEqual(changed, "1")

    def setUp(self):
        super().setUp()
        self.manager("1", Name="Ada")
        self.many_departments(150)
        self.rule = self.create()

    def test_it_finds_wrong_missing_and_superfluous_copies_and_a_repair_mends_exactly_these(self):
        self.manager("2", Name="Bob")
        self.department("lonely", Manager="2")
        self.wait_until_kept(self.rule)
        self.damage("00007", "Ada", "Bob")
        self.damage("00008", "ManagerName", "Managername")
        self.stack.sql("update entities set dead = true, properties = '' where row_key = '2' "
                       f"and table_id = (select table_id from tables where name = '{self.managers}')")
        before, wanted = self.etags(), {"00007": COPY_WRONG, "00008": COPY_MISSING, "lonely": COPY_SUPERFLUOUS}
        self.assertEqual(self.differences(self.rule), [(row, kind, "ManagerName", FOUND) for row, kind in wanted.items()])
        self.assertEqual(self.etags(), before)
        mended = self.report(self.rule, self.client.repair_index)
        self.assertEqual([(one.source.row_key, one.state) for one in mended.differences], [(row, MENDED) for row in wanted])
        after = self.etags()
        self.assertEqual({row for row in before if before[row] != after[row]}, set(wanted))
        self.assertEqual(self.differences(self.rule), [])
        self.assertEqual({self.copies()[row] for row in ("00007", "00008")}, {"Ada"})

    def test_a_repair_of_a_report_keeps_what_was_written_since(self):
        self.damage("00007", "Ada", "Bob")
        found = self.report(self.rule)
        self.manager("1", Name="Ada Lovelace")
        self.department("00007", Manager="1", Floor=7)
        self.wait_until_kept(self.rule)
        self.report(self.rule, self.client.repair_index, report_id=found.report.operation_id)
        self.assertEqual(plain(self.get(self.departments, "sales", "00007")), {"Manager": "1", "ManagerName": "Ada Lovelace", "Floor": 7})

    def test_the_commands_show_and_mend_a_copy(self):
        self.damage("00007", "Ada", "Bob")

        def command(*words, code=0):
            done = run_program("tavola", "index", *words, settings={"TAVOLA_TARGET": self.stack.target})
            self.assertEqual(done.returncode, code, done)
            return done.stdout

        said = command("verify", self.rule, code=1)
        self.assertIn("manifests=0 copies=1 mended=0", said)
        self.assertRegex(said, r"COPY_WRONG +FOUND +source=\(sales, 00007\) property=ManagerName")
        self.assertIn("copies=1 mended=1 remaining=0", command("repair", self.rule))
        self.assertIn("copies=0", command("verify", self.rule))

    def test_a_dry_run_changes_nothing(self):
        self.damage("00007", "Ada", "Bob")
        self.assertEqual(self.report(self.rule, self.client.repair_index, dry_run=True).report.copies, 1)
        self.assertEqual(self.copies()["00007"], "Bob")

    def test_what_is_under_way_is_no_difference(self):
        self.pause()
        self.manager("1", Name="Ada Lovelace")
        self.department("a", Manager="1")
        found = self.report(self.rule).report
        self.assertEqual((found.copies, found.in_flight > 0), (0, True))
        self.client.control_queue(control=RESUME)
        self.wait_until_kept(self.rule)
        self.assertEqual((self.differences(self.rule), set(self.copies().values())), ([], {"Ada Lovelace"}))

    def test_status_says_what_waits(self):
        self.pause()
        self.manager("1", Name="Ada Lovelace")
        self.department("a", Manager="1")
        status = self.status(self.rule)
        self.assertEqual((status.waiting_sources, status.waiting_dependents, status.refused), (1, 1, 0))
        self.client.control_queue(control=RESUME)
        self.wait_until_kept(self.rule)

    def test_an_index_without_a_rule_has_no_copies(self):
        other = self.new_index(self.departments, "Manager")
        self.assertFalse(self.client.get_index(name=other).status.HasField("copies"))
        self.assertEqual(self.report(other).report.copies, 0)


if __name__ == "__main__":
    unittest.main()
