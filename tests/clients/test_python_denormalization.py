# SPDX-License-Identifier: Apache-2.0
"""Rules of denormalization in the Python client: what they keep, each guard with what happens without it, crashes, verification and
repair.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import types
import unittest
import uuid
from unittest import mock

from tavola_test.processes import program_environment
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

import tavola
from tavola import denormalization
from tavola.copy_plan import Declaration, Literal, check_with, stored_form
from tavola.denormalization import CopyRule, RuleExists, RuleNotFound

MODULE = pathlib.Path(denormalization.__file__)
NAMED_BY = ("PartitionKey", "Manager")


def declared(source="managers", dependents="departments", named_by=NAMED_BY, copies=None, **options):
    return Declaration(source, dependents, named_by, copies or {"ManagerName": "Name"}, **options)


class Declarations(unittest.TestCase):
    def test_what_contradicts_itself_is_refused(self):
        for words, fields in (
            ("named_by has to give", {"named_by": (Literal("a"), Literal("b"))}),
            ("named_by has to give", {"named_by": ("Manager",)}),
            ("copies names no property", {"copies": {}}),
            ("'RowKey' would replace a key", {"copies": {"RowKey": "Name"}}),
            ("'' would replace a key", {"copies": {"": "Name"}}),
            ("'Manager' would replace the property that names", {"copies": {"Manager": "Name"}}),
            ("'M' is a copy", {"copies": {"M": "Name"}, "version_to": "M"}),
            ("only properties of the source", {"copies": {"M": "RowKey"}}),
        ):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                Declaration(**{"source": "m", "dependents": "d", "named_by": NAMED_BY, "copies": {"M": "Name"}, **fields})

    def test_a_declaration_returns_from_its_stored_form(self):
        for one in (declared(), declared(named_by=(Literal("m"), "Manager"), version_to="Version", keep=True)):
            self.assertEqual(Declaration.of_json(one.to_json()), one)

    def test_a_rule_that_another_contradicts_is_refused(self):
        check_with(declared(), {"other": declared(copies={"ManagerPhone": "Phone"})})
        with self.assertRaisesRegex(ValueError, "the rule other keeps ManagerName of departments already"):
            check_with(declared(), {"other": declared(source="staff")})

    def test_a_circle_of_rules_is_refused_and_a_chain_is_not(self):
        copied_on = declared("departments", "offices", ("Company", "Department"), {"HeadName": "ManagerName"})
        check_with(declared(), {"other": copied_on})
        back = declared("offices", "managers", ("Company", "Office"), {"Name": "HeadName"})
        with self.assertRaisesRegex(ValueError, "in a circle: .*departments.ManagerName"):
            check_with(declared(), {"other": copied_on, "back": back})

    def test_a_version_goes_in_a_circle_with_any_property(self):
        back = declared("departments", "managers", ("PartitionKey", "Department"), {"DepartmentName": "Name"})
        check_with(declared(version_to="Version"), {"other": back})
        with self.assertRaisesRegex(ValueError, "in a circle"):
            check_with(declared(version_to="Version"), {"other": declared(**{**vars(back), "version_to": "Version"})})
        with self.assertRaisesRegex(ValueError, "in a circle"):
            check_with(declared("staff", "staff", version_to="Version"), {})
        check_with(declared("staff", "staff"), {})

    def test_the_values_that_name_a_source_are_those_of_its_dependents(self):
        for named_by, source, values in (
            (NAMED_BY, ("sales", "1"), ["sales", "1"]),
            ((Literal("m"), "Manager"), ("m", "1"), ["1"]),
            ((Literal("m"), "Manager"), ("n", "1"), None),
            (("Manager", "Manager"), ("1", "1"), ["1"]),
            (("Manager", "Manager"), ("1", "2"), None),
        ):
            with self.subTest(named_by=named_by, source=source):
                rule = declared(named_by=named_by)
                self.assertEqual(rule.values_naming(source), values)
                if values:
                    self.assertEqual(rule.source_of(dict(zip(rule.naming, values))), source)

    def test_what_is_no_text_names_nothing(self):
        self.assertIsNone(declared().source_of({"PartitionKey": "sales"}))
        self.assertIsNone(declared().source_of({"PartitionKey": "sales", "Manager": 1}))

    def test_values_are_compared_as_they_are_stored(self):
        values = [1, tavola.Int32(1), True, 1.0, "1", b"1", 0.0, -0.0, float("nan")]
        self.assertEqual(len({stored_form(value) for value in values}), len(values))
        self.assertEqual(stored_form(float("nan")), stored_form(float("nan")))
        self.assertEqual(declared().difference({"Manager": "1", "ManagerName": 1}, {"Name": True}), {"ManagerName": True})


class Crash(Exception):
    """The program ends here."""


class RuleCase(unittest.TestCase):
    """A server and a worker for the class; tables and a rule for each test."""

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack(redis=False)
        cls.addClassCleanup(cls.stack.close)
        cls.stack.start_server()
        cls.stack.start_worker()
        cls.client = tavola.Client(cls.stack.target, timeout=30 * TIMEOUT_FACTOR)
        cls.addClassCleanup(cls.client.close)

    def setUp(self):
        self.begin_anew()

    def begin_anew(self, module=denormalization, **options):
        self.module, unique = module, uuid.uuid4().hex[:12]
        self.rules, self.name = "rules" + unique, "rule" + unique
        self.managers, self.departments = self.client.create_table("m" + unique), self.client.create_table("d" + unique)
        self.options = options

    def create(self, **options):
        return self.module.CopyRule.create(
            self.client, self.name, rules=self.rules,
            **{"source": self.managers.name, "dependents": self.departments.name, "named_by": NAMED_BY, "copies": {"ManagerName": "Name"},
               **self.options, **options})

    def program(self, crash_at="", at=None):
        """Another program that carries the rule out. at: what to do at the first time of a step."""
        rule = self.module.CopyRule(self.client, self.name, rules=self.rules)
        todo = dict(at or {})

        def step(name):
            if name == crash_at:
                raise Crash
            if name in todo:
                todo.pop(name)()

        rule.on_step = step
        return rule

    def manager(self, row, **properties):
        self.managers.upsert({"PartitionKey": "sales", "RowKey": row, **properties})

    def department(self, row, **properties):
        self.departments.upsert({"PartitionKey": "sales", "RowKey": row, **properties})

    def many_departments(self, count, manager="1"):
        self.departments.load({"PartitionKey": "sales", "RowKey": f"{manager}{n:05}", "Manager": manager} for n in range(count))

    def copies(self):
        return {one["RowKey"]: one.get("ManagerName") for one in self.departments.query()}

    def names(self):
        return set(self.copies().values())

    def crash(self, step):
        with self.assertRaises(Crash):
            self.program(crash_at=step).catch_up()


class Copies(RuleCase):
    def test_changes_of_either_side_reach_the_copies(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1", Floor=7)
        rule = self.create()
        rule.catch_up()
        self.assertEqual(self.copies(), {"a": "Ada"})
        self.manager("1", Name="Ada Lovelace")
        self.manager("2", Name="Grace")
        self.department("b", Manager="2")
        self.department("c", Manager="nobody", ManagerName="left over")
        self.department("d", ManagerName="left over")
        rule.catch_up()
        self.assertEqual(self.copies(), {"a": "Ada Lovelace", "b": "Grace", "c": None, "d": None})
        self.departments.merge({"PartitionKey": "sales", "RowKey": "a", "Manager": "2"})
        rule.catch_up()
        self.assertEqual(dict(self.departments.get("sales", "a")),
                         {"PartitionKey": "sales", "RowKey": "a", "Manager": "2", "ManagerName": "Grace", "Floor": 7})

    def test_a_copy_that_a_caller_writes_is_written_over(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        rule = self.create()
        rule.catch_up()
        self.department("a", Manager="1", ManagerName="somebody else")
        rule.catch_up()
        self.assertEqual(self.copies(), {"a": "Ada"})

    def test_a_copy_is_a_write_of_the_dependent_and_nothing_is_written_twice(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        rule, before = self.create(), self.departments.get("sales", "a").etag
        rule.catch_up()
        written = self.departments.get("sales", "a").etag
        self.manager("1", Name="Ada", Phone=10)
        rule.catch_up()
        self.assertEqual((self.departments.get("sales", "a").etag, before == written), (written, False))

    def test_the_copies_of_a_deleted_source_are_removed_or_stay(self):
        for keep, left in ((False, None), (True, "Ada")):
            with self.subTest(keep=keep):
                self.begin_anew(keep=keep)
                self.manager("1", Name="Ada", Born=1815)
                self.department("a", Manager="1")
                rule = self.create(copies={"ManagerName": "Name", "Born": "Born"})
                rule.catch_up()
                self.manager("1", Name="Ada")
                rule.catch_up()
                self.assertNotIn("Born", self.departments.get("sales", "a"))
                self.managers.delete("sales", "1")
                rule.catch_up()
                self.assertEqual(self.copies(), {"a": left})
                self.assertEqual(rule.verify(settle=0).differences, [])

    def test_a_copy_says_which_version_it_is_of(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        rule = self.create(version_to="ManagerVersion")
        for phone in (10, 11):
            self.manager("1", Name="Ada", Phone=phone)
            rule.catch_up()
            self.assertEqual(self.departments.get("sales", "a")["ManagerVersion"], self.managers.get("sales", "1").etag)

    def test_what_expires_keeps_its_time_when_a_copy_is_removed(self):
        self.manager("1", Name="Ada")
        until = tavola.values.EPOCH.replace(year=2099)
        self.departments.insert(tavola.Entity({"PartitionKey": "sales", "RowKey": "a", "Manager": "1"}, expires=until))
        rule = self.create()
        rule.catch_up()
        self.managers.delete("sales", "1")
        rule.catch_up()
        self.assertEqual((self.copies(), self.departments.get("sales", "a").expires), ({"a": None}, until))

    def test_source_and_dependent_may_be_in_one_table(self):
        self.departments = self.managers
        self.department("1", Manager="2", Name="Ada")
        self.department("2", Manager="1", Name="Grace")
        rule = self.create()
        rule.catch_up()
        self.assertEqual(self.copies(), {"1": "Grace", "2": "Ada"})
        self.managers.merge({"PartitionKey": "sales", "RowKey": "2", "Name": "Grace Hopper"})
        rule.catch_up()
        self.assertEqual(self.copies(), {"1": "Grace Hopper", "2": "Ada"})

    def test_one_source_with_many_dependents_does_not_hold_up_another(self):
        self.manager("1", Name="Ada")
        self.manager("2", Name="Grace")
        self.many_departments(450)
        self.many_departments(1, manager="2")
        rule = self.create()
        rule.catch_up()
        order = []
        visitor = self.program()
        visitor.on_step = lambda step: order.append(self.names()) if step == "visited" else None
        self.manager("1", Name="Ada Lovelace")
        self.manager("2", Name="Grace Hopper")
        visitor.catch_up()
        self.assertEqual(len(order), 6)
        first = next(number for number, names in enumerate(order) if "Grace Hopper" in names)
        self.assertLessEqual(first, 1)
        self.assertEqual(self.names(), {"Ada Lovelace", "Grace Hopper"})

    def test_status_says_what_waits(self):
        self.manager("1", Name="Ada")
        self.many_departments(250)
        rule = self.create()
        self.assertEqual((rule.status().state, rule.status().caught_up), ("BUILDING", None))
        rule.catch_up()
        self.manager("1", Name="Ada Lovelace")
        self.crash("moved on")
        status = rule.status()
        self.assertEqual((status.state, status.waiting, status.visited, status.refused), ("KEPT", 1, 100, 0))
        rule.catch_up()
        after = rule.status()
        self.assertEqual((after.waiting, after.visited), (0, 0))
        self.assertGreater(after.caught_up, status.caught_up)

    def test_run_follows_until_it_is_stopped(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        self.create()
        stop = threading.Event()
        thread = threading.Thread(target=self.program().run, args=(stop,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)
        for name in ("Ada", "Ada Lovelace", "Countess"):
            self.manager("1", Name=name)
            wait_for("the copy", lambda name=name: self.copies() == {"a": name})

    def test_a_dependent_that_cannot_have_its_copy_is_noted_and_does_not_hold_up_others(self):
        self.manager("1", Name="x" * 30_000)
        self.departments.insert({"PartitionKey": "sales", "RowKey": "a", "Manager": "1", **{f"P{n}": b"x" * 60_000 for n in range(17)}})
        self.department("b", Manager="1")
        rule = self.create()
        rule.catch_up()
        self.assertEqual((rule.status().refused, self.copies()), (1, {"a": None, "b": "x" * 30_000}))
        report = rule.verify(settle=0)
        self.assertEqual([(one.key[1], one.state) for one in report.differences], [("a", "FOUND")])
        self.assertIn("ENTITY_TOO_LARGE", report.differences[0].cause)
        rule.repair(report)
        self.assertIn("ENTITY_TOO_LARGE", report.differences[0].cause)
        self.assertEqual(report.differences[0].state, "REMAINS")
        self.department("a", Manager="1")
        rule.catch_up()
        self.assertEqual((rule.status().refused, self.names()), (0, {"x" * 30_000}))

    def test_dependents_that_are_too_large_for_one_reply_lose_their_copies_too(self):
        self.manager("1", Name="Ada")
        for n in range(8):
            self.departments.insert({"PartitionKey": "sales", "RowKey": f"{n}", "Manager": "1", **{f"P{n}": b"x" * 60_000 for n in range(15)}})
        rule = self.create()
        rule.catch_up()
        self.assertEqual(self.names(), {"Ada"})
        self.managers.delete("sales", "1")
        rule.catch_up()
        self.assertEqual((self.names(), rule.status().refused), ({None}, 0))
        self.assertEqual([len(one) for one in self.departments.query()], [18] * 8)

    def test_a_refusal_goes_with_its_dependent(self):
        self.manager("1", Name="x" * 30_000)
        self.departments.insert({"PartitionKey": "sales", "RowKey": "a", "Manager": "1", **{f"P{n}": b"x" * 60_000 for n in range(17)}})
        rule = self.create()
        rule.catch_up()
        self.departments.delete("sales", "a")
        rule.catch_up()
        self.assertEqual(rule.status().refused, 0)

    def test_a_name_that_is_no_key_names_nothing(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        self.department("b", Manager="a/b", ManagerName="left over")
        self.create().catch_up()
        self.assertEqual(self.copies(), {"a": "Ada", "b": None})


class LifeCycle(RuleCase):
    def test_a_rule_needs_its_tables_and_a_name_of_its_own(self):
        with self.assertRaises(tavola.TableNotFound):
            self.create(source="nosuch")
        self.create()
        with self.assertRaises(RuleExists):
            self.create(copies={"Other": "Name"})
        with self.assertRaises(RuleNotFound):
            CopyRule(self.client, "nosuch", rules=self.rules)
        self.assertEqual(CopyRule.names(self.client, self.rules), [self.name])
        self.assertEqual(CopyRule.names(self.client, "nosuch"), [])

    def test_an_index_of_another_kind_is_not_taken(self):
        self.departments.create_index(self.name, "Manager").wait(60 * TIMEOUT_FACTOR)
        with self.assertRaisesRegex(ValueError, "not the one that the rule needs"):
            self.create()
        self.assertEqual(CopyRule.names(self.client, self.rules), [])

    def test_of_two_rules_that_are_declared_at_once_one_sees_the_other(self):
        real, others = denormalization.check_with, []

        def check(declaration, known):
            if not others:
                others.append(None)
                CopyRule.create(self.client, self.name + "b", rules=self.rules, source=self.departments.name, dependents=self.managers.name,
                                named_by=("PartitionKey", "Department"), copies={"Name": "ManagerName"})
            real(declaration, known)

        with mock.patch.object(denormalization, "check_with", check), self.assertRaisesRegex(ValueError, "in a circle"):
            self.create()
        self.assertEqual(CopyRule.names(self.client, self.rules), [self.name + "b"])

    def test_a_dropped_rule_leaves_its_copies_and_ends_its_programs(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        rule = self.create()
        rule.catch_up()
        program = self.program()
        rule.drop()
        for call in (program.catch_up, program.run, program.status, program.drop):
            with self.assertRaises(RuleNotFound):
                call()
        self.assertEqual((self.copies(), CopyRule.names(self.client, self.rules)), ({"a": "Ada"}, []))
        with self.assertRaises(tavola.IndexNotFound):
            self.client.index(self.name).info()
        wait_for("no notes", lambda: self.client.table(self.rules).count("PartitionKey ne 'rules'") == 0)

    def test_a_drop_that_was_interrupted_is_called_again(self):
        for step in ("dropping", "dropped"):
            with self.subTest(step):
                self.begin_anew()
                self.create().catch_up()
                with self.assertRaises(Crash):
                    self.program(crash_at=step).drop()
                with self.assertRaises(RuleNotFound):
                    self.program().catch_up()
                self.assertEqual(self.program().status().state, "DROPPING")
                with self.assertRaises(RuleExists):
                    self.create()
                self.program().drop()
                self.create(copies={"Other": "Name"}).catch_up()

    def test_a_rule_made_anew_under_its_name_has_nothing_of_the_one_before(self):
        self.manager("1", Name="Ada", Phone=10)
        self.many_departments(150)
        self.create().catch_up()
        self.manager("1", Name="Ada Lovelace", Phone=11)
        self.crash("visited")
        late = self.program()
        self.program().drop()
        rule = self.create(copies={"ManagerPhone": "Phone"})
        with self.assertRaises(RuleNotFound):
            late.catch_up()
        self.assertEqual((rule.status().state, rule.status().waiting), ("BUILDING", 0))
        rule.catch_up()
        self.assertEqual({one.get("ManagerPhone") for one in self.departments.query()}, {11})
        self.assertEqual(self.names(), {"Ada", "Ada Lovelace"})

    def test_it_begins_again_when_the_history_of_a_feed_is_gone(self):
        for table in ("managers", "departments"):
            with self.subTest(table):
                self.begin_anew()
                self.manager("1", Name="Ada")
                self.department("a", Manager="1")
                rule = self.create()
                rule.catch_up()
                getattr(self, table).update(change_feed=False)
                self.manager("1", Name="Ada Lovelace")
                self.department("b", Manager="1")
                rule.catch_up()
                self.assertEqual(self.copies(), {"a": "Ada Lovelace", "b": "Ada Lovelace"})
                self.assertEqual(rule.verify(settle=0).differences, [])

    def test_it_begins_again_when_the_database_was_restored(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        rule = self.create()
        rule.catch_up()
        self.stack.sql("update catalogue set epoch = epoch + 1, version = version + 1, floor = floor + (1::int8 << 40)")
        rule.catch_up()
        self.assertEqual(rule.status().compared, 3)  # once by each build, and once because the copy was written
        self.manager("1", Name="Grace")
        rule.catch_up()
        self.assertEqual(self.copies(), {"a": "Grace"})

    def test_it_begins_again_with_a_table_that_was_made_anew(self):
        for table in ("managers", "departments"):
            with self.subTest(table):
                self.begin_anew()
                self.manager("1", Name="Ada")
                self.department("a", Manager="1")
                rule = self.create()
                rule.catch_up()
                getattr(self, table).drop()
                with self.assertRaises(tavola.TableNotFound):
                    rule.catch_up()
                self.client.create_table(getattr(self, table).name)
                self.manager("1", Name="Grace")
                self.department("a", Manager="1")
                rule.catch_up()
                self.assertEqual(self.copies(), {"a": "Grace"})

    def test_a_table_that_is_made_anew_during_the_build(self):
        self.manager("1", Name="Ada")
        self.many_departments(250)
        self.create()


        def anew():
            self.departments.drop()
            self.client.create_table(self.departments.name)
            self.many_departments(3)

        self.program(at={"moved on": anew, "built": anew}).catch_up()
        self.assertEqual(list(self.copies().values()), ["Ada"] * 3)

    def test_an_index_that_was_dropped_by_hand_is_made_again(self):
        self.manager("1", Name="Ada")
        self.many_departments(150)
        rule = self.create()
        rule.catch_up()
        self.manager("1", Name="Ada Lovelace")
        self.crash("moved on")
        self.client.index(self.name).drop()
        rule.catch_up()
        self.assertEqual(self.names(), {"Ada Lovelace"})


# What each guard is without its line, and the test below that must fail then.
MUTANTS = {
    "a dependent is written only if it has not changed": (
        "writer.merge({**dict(zip(KEYS, one.key)), **changes}, if_match=one.etag)",
        'writer.merge({**dict(zip(KEYS, one.key)), **changes}, if_match="*")',
        "a_program_that_sleeps_with_an_old_source"),
    "a dependent is read before its source": (
        '            one = self._dependents.find(*key)\n'
        '            changes = self._difference(one, self._sources_of([one])) if one is not None else {}\n'
        '            self.on_step("read again")\n',
        '            sources = self._sources_of([self._dependents.find(*key)])\n'
        '            self.on_step("read again")\n'
        '            one = self._dependents.find(*key)\n'
        '            changes = self._difference(one, sources)\n',
        "a_program_that_sleeps_with_an_old_source_of_one_dependent"),
    "an entity is replaced only if it has not changed": (
        "writer.replace(one)", 'writer.replace(one, if_match="*")', "a_caller_who_writes_while_a_copy_is_removed"),
    "a position is stored after its work": (
        "        for some in _chunks(keys):\n            self._agree(some, self._read",
        "        self._note(state, DependentsToken=token)\n        for some in _chunks(keys):\n            self._agree(some, self._read",
        "a_crash_before_a_change_of_a_dependent_is_done"),
    "a position and the note of its work are one commit": (
        "        parts = list(_chunks(rows, _BATCH)) or [[]]\n",
        '        self._note(state, SourceToken=token)\n        self.on_step("noted")\n        parts = list(_chunks(rows, _BATCH)) or [[]]\n',
        "a_crash_when_a_change_of_a_source_is_noted"),
    "dependents are looked up as of now": ("latest=True", "latest=False", "a_dependent_whose_entry_is_not_there_yet"),
    "a change during a visit asks for another one": (
        'again = bool(place) and work["Again"]', "again = False", "a_source_that_changes_during_the_visit"),
    "a visit ends only if nothing was noted meanwhile": (
        "self._rules.delete(*work.key, if_match=work.etag)", "self._rules.delete(*work.key)", "a_change_noted_at_the_end_of_a_visit"),
    "the positions are older than the build": (
        '        self._note(state, **done, ', '        self._note(state, **done, SourceToken=self._source.changes()[1], ',
        "a_source_that_changes_during_the_build"),
    "a rule made anew is another rule": (
        '        if rule is None or rule["Id"] != self._id or rule.get("Dropping"):', "        if rule is None:",
        "a_late_program_of_an_earlier_rule"),
}


def mutated(old, new):
    """The module with another line."""
    text = MODULE.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{text.count(old)} times, not once: {old}"
    module = types.ModuleType("mutant")
    sys.modules["mutant"] = module  # where its dataclasses look
    exec(compile(text.replace(old, new), str(MODULE), "exec"), vars(module))
    return module


class Guards(RuleCase):
    """Each schedule ends with right copies, or never writes wrong ones; without its guard it does not."""

    def names_that_were_written(self, since):
        changes, _ = self.departments.changes(since)
        return [change.entity.get("ManagerName") for change in changes]

    def a_program_that_sleeps_with_an_old_source(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        self.create()
        self.crash("begun")
        _, token = self.departments.changes()

        def meanwhile():
            self.manager("1", Name="Ada Lovelace")
            self.program().catch_up()

        self.program(at={"read": meanwhile}).catch_up()
        return self.names_that_were_written(token) == ["Ada Lovelace"]

    def a_program_that_sleeps_with_an_old_source_of_one_dependent(self):
        self.manager("1", Name="Charles")
        self.department("a", Manager="1")
        self.create()
        self.program().catch_up()
        self.manager("1", Name="Ada")
        _, token = self.departments.changes()

        def conflict():
            self.departments.merge({"PartitionKey": "sales", "RowKey": "a", "Floor": 7})  # so it is read again, alone

        def meanwhile():
            self.manager("1", Name="Ada Lovelace")
            self.program().catch_up()

        self.program(at={"read": conflict, "read again": meanwhile}).catch_up()
        return self.names_that_were_written(token) == ["Charles", "Ada Lovelace"]

    def a_caller_who_writes_while_a_copy_is_removed(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        self.create()
        self.program().catch_up()
        self.managers.delete("sales", "1")

        def meanwhile():
            self.departments.merge({"PartitionKey": "sales", "RowKey": "a", "Floor": 7})

        self.program(at={"read whole": meanwhile}).catch_up()
        return dict(self.departments.get("sales", "a")) == {"PartitionKey": "sales", "RowKey": "a", "Manager": "1", "Floor": 7}

    def a_crash_before_a_change_of_a_dependent_is_done(self):
        self.manager("1", Name="Ada")
        self.create()
        self.program().catch_up()
        self.department("a", Manager="1")
        self.crash("read")
        self.program().catch_up()
        return self.names() == {"Ada"}

    def a_crash_when_a_change_of_a_source_is_noted(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        self.create()
        self.program().catch_up()
        self.manager("1", Name="Ada Lovelace")
        self.crash("noted")
        self.program().catch_up()
        return self.names() == {"Ada Lovelace"}

    def a_dependent_whose_entry_is_not_there_yet(self):
        self.manager("1", Name="Ada")
        self.create()
        self.program().catch_up()
        self.stack.worker.stop()
        try:
            self.department("a", Manager="1")
            self.program().catch_up()
            self.manager("1", Name="Ada Lovelace")
            self.program().catch_up()
            return self.names() == {"Ada Lovelace"}
        finally:
            self.stack.start_worker()

    def a_source_that_changes_during_the_visit(self):
        self.manager("1", Name="Ada")
        self.many_departments(250)
        self.create()
        self.program().catch_up()
        self.manager("1", Name="Ada", Phone=10)  # nothing to copy: what is visited now is not written, and so not compared again
        self.program(at={"moved on": lambda: self.manager("1", Name="Countess")}).catch_up()
        return self.names() == {"Countess"}

    def a_change_noted_at_the_end_of_a_visit(self):
        self.manager("1", Name="Ada")
        self.department("a", Manager="1")
        self.create()
        self.program().catch_up()
        self.manager("1", Name="Ada", Phone=10)

        def meanwhile():
            self.manager("1", Name="Countess")
            self.crash("noted")

        self.program(at={"visited": meanwhile}).catch_up()
        return self.names() == {"Countess"}

    def a_source_that_changes_during_the_build(self):
        self.manager("1", Name="Ada")
        self.departments.load({"PartitionKey": "sales", "RowKey": f"{n:05}", "Manager": "1", "ManagerName": "Ada"} for n in range(150))
        self.create()
        self.crash("begun")

        def meanwhile():
            self.manager("1", Name="Ada Lovelace")

        self.program(at={"built": meanwhile}).catch_up()
        return self.names() == {"Ada Lovelace"}

    def a_late_program_of_an_earlier_rule(self):
        self.manager("1", Name="Ada", Phone=10)
        self.department("a", Manager="1")
        self.create().catch_up()
        late = self.program()
        late.drop()
        self.create(copies={"Phone": "Phone"}).catch_up()
        self.manager("1", Name="Ada Lovelace", Phone=11)
        try:
            late.catch_up()
        except RuleNotFound:
            pass
        return self.names() == {"Ada"}

    def test_each_schedule_is_right_with_its_guard(self):
        for guard, (_, _, schedule) in MUTANTS.items():
            with self.subTest(guard):
                self.begin_anew()
                self.assertTrue(getattr(self, schedule)(), self.names())

    def test_each_schedule_is_wrong_without_its_guard(self):
        for guard, (old, new, schedule) in MUTANTS.items():
            with self.subTest(guard):
                self.begin_anew(mutated(old, new))
                self.assertFalse(getattr(self, schedule)(), self.names())


class Verification(RuleCase):
    """Damage that no feed tells of: rows of the database are changed by hand."""

    def damage(self, row, text, other):
        self.stack.sql(f"update entities set properties = overlay(properties placing '{other}'::bytea from position('{text}'::bytea in properties)) "
                       f"where row_key = '{row}' and position('{text}'::bytea in properties) > 0")

    def setUp(self):
        super().setUp()
        self.manager("1", Name="Ada")
        self.many_departments(150)
        self.rule = self.create()
        self.rule.catch_up()

    def versions(self):
        return {one["RowKey"]: one.etag for one in self.departments.query()}

    def test_it_finds_wrong_missing_and_superfluous_copies_and_a_repair_mends_exactly_these(self):
        self.department("lonely", Manager="2")
        self.manager("2", Name="Bob")
        self.rule.catch_up()
        self.damage("100007", "Ada", "Bob")  # wrong
        self.damage("100008", "ManagerName", "Managername")  # missing
        self.stack.sql("delete from entities where row_key = '2'")  # superfluous, in `lonely`
        before = self.versions()
        found = self.rule.verify(settle=0)
        self.assertEqual((found.compared, found.in_flight, found.complete), (151, 0, True))
        self.assertEqual([(one.key, one.source, one.properties, one.state) for one in found.differences], [
            (("sales", "100007"), ("sales", "1"), {"ManagerName": "Ada"}, "FOUND"),
            (("sales", "100008"), ("sales", "1"), {"ManagerName": "Ada"}, "FOUND"),
            (("sales", "lonely"), ("sales", "2"), {"ManagerName": None}, "FOUND"),
        ])
        self.assertEqual(self.versions(), before)
        self.rule.repair(found)
        self.assertEqual([one.state for one in found.differences], ["MENDED"] * 3)
        after = self.versions()
        self.assertEqual({row for row in before if before[row] != after[row]}, {"100007", "100008", "lonely"})
        self.assertEqual(self.rule.verify(settle=0).differences, [])

    def test_what_is_under_way_is_no_difference(self):
        self.manager("1", Name="Ada Lovelace")
        self.assertEqual((self.rule.verify(settle=0).in_flight, self.rule.verify(settle=0).differences), (150, []))
        self.crash("noted")
        self.assertEqual((self.rule.verify(settle=0).in_flight, self.rule.verify(settle=0).differences), (150, []))
        self.rule.catch_up()
        self.department("a", Manager="1")
        self.assertEqual((self.rule.verify(settle=0).in_flight, self.rule.verify(settle=0).differences), (1, []))
        self.rule.catch_up()
        self.assertEqual(self.rule.verify(settle=0).in_flight, 0)

    def test_what_changes_between_two_looks_is_no_difference(self):
        self.damage("100007", "Ada", "Bob")

        def meanwhile(*_):
            self.department("100007", Manager="1", ManagerName="somebody else")
            self.rule.catch_up()
            self.damage("100007", "Ada", "Bob")
            return set(), set()

        with mock.patch.object(self.rule, "_open_work", meanwhile):
            found = self.rule.verify(settle=0)
        self.assertEqual((found.in_flight, found.differences), (1, []))
        self.assertEqual(len(self.rule.verify(settle=0).differences), 1)

    def test_nothing_is_judged_while_the_rule_is_built(self):
        self.departments.update(change_feed=False)
        self.damage("100007", "Ada", "Bob")
        found = self.rule.verify(settle=0)
        self.assertEqual((found.in_flight, found.differences), (1, []))

    def test_a_repair_keeps_what_was_written_since(self):
        self.damage("100007", "Ada", "Bob")
        found = self.rule.verify(settle=0)
        self.manager("1", Name="Ada Lovelace")
        self.department("100007", Manager="1", Floor=7)
        self.rule.repair(found)
        self.assertEqual(dict(self.departments.get("sales", "100007")),
                         {"PartitionKey": "sales", "RowKey": "100007", "Manager": "1", "ManagerName": "Ada Lovelace", "Floor": 7})

    def test_differences_are_bounded(self):
        for row in ("100007", "100120"):
            self.damage(row, "Ada", "Bob")
        with mock.patch.object(denormalization, "_MAX_DIFFERENCES", 0):
            found = self.rule.verify(settle=0)
        self.assertEqual((found.compared, len(found.differences), found.complete), (100, 1, False))

    def test_the_command(self):
        def command(*arguments, code=0):
            done = subprocess.run([sys.executable, "-m", "tavola.denormalization", "--target", self.stack.target, "--rules", self.rules, *arguments],
                                  env=program_environment({}) | {"PYTHONPATH": str(MODULE.parents[1])}, capture_output=True, text=True, timeout=60 * TIMEOUT_FACTOR)
            self.assertEqual((done.returncode, done.stderr), (code, ""), done.stdout)
            return done.stdout

        self.assertEqual(command("list"), self.name + "\n")
        self.damage("100007", "Ada", "Bob")
        found = json.loads(command("verify", self.name, "--settle", "0", code=1))
        self.assertEqual([one["key"] for one in found["differences"]], [["sales", "100007"]])
        self.assertEqual(json.loads(command("repair", self.name, "--settle", "0"))["differences"][0]["state"], "MENDED")
        self.assertEqual(command("drop", self.name), "")
        command("create", self.name, "--source", self.managers.name, "--dependents", self.departments.name, "--named-by", "=sales", "Manager",
                "--copy", "Head=Name", "--copy", "HeadPhone=Phone", "--version-to", "HeadVersion", "--keep")
        command("catch-up", self.name)
        self.assertEqual(self.departments.get("sales", "100007")["Head"], "Ada")
        self.assertEqual(json.loads(command("status", self.name))["state"], "KEPT")
        self.assertIn("there is no rule nosuch", command("status", "nosuch", code=2))


PROGRAM = """
import os, signal, sys
import tavola
from tavola.denormalization import CopyRule

target, rules, name, method, step = sys.argv[1:]
rule = CopyRule(tavola.Client(target), name, rules=rules)
rule.on_step = lambda passed: os.kill(os.getpid(), signal.SIGKILL) if passed == step else None
getattr(rule, method)()
"""


class Crashes(RuleCase):
    """A program is killed behind each of its steps; the next one does the rest."""

    def killed(self, step, method="catch_up"):
        done = subprocess.run([sys.executable, "-c", PROGRAM, self.stack.target, self.rules, self.name, method, step],
                              env=os.environ | {"PYTHONPATH": str(MODULE.parents[1])}, timeout=60 * TIMEOUT_FACTOR, check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL, step)

    def test_at_every_step_of_a_build(self):
        for step in ("begun", "read", "built"):
            with self.subTest(step):
                self.begin_anew()
                self.manager("1", Name="Ada")
                self.many_departments(150)
                self.create()
                self.killed(step)
                self.program().catch_up()
                self.assertEqual(self.names(), {"Ada"})
                self.assertEqual(self.program().verify(settle=0).differences, [])

    def test_at_every_step_of_a_change(self):
        for step in ("noted", "visited", "moved on", "read", "read whole", "followed"):
            with self.subTest(step):
                self.begin_anew()
                self.manager("1", Name="Ada", Phone=10)
                self.many_departments(150)
                self.create(copies={"ManagerName": "Name", "Phone": "Phone"})
                self.program().catch_up()
                self.manager("1", Name="Ada Lovelace")  # a property less
                self.department("a", Manager="1")
                self.killed(step)
                self.program().catch_up()
                self.assertEqual(self.names(), {"Ada Lovelace"})
                self.assertEqual(self.program().verify(settle=0).differences, [])

    def test_at_every_step_of_a_drop(self):
        for step in ("dropping", "dropped"):
            with self.subTest(step):
                self.begin_anew()
                self.create().catch_up()
                self.killed(step, "drop")
                self.program().drop()
                self.assertEqual(CopyRule.names(self.client, self.rules), [])


class Chaos(RuleCase):
    """Writers on both sides, programs side by side that crash, a server that is killed: in the end every copy is right."""

    SOURCES, DEPENDENTS, WRITES = 4, 120, 100

    def write(self, seed):
        for n in range(self.WRITES):
            chosen = (seed * 7919 + n * 104729) % 1000
            row = str(chosen % self.SOURCES)
            if chosen % 11 == 0:
                self.managers.delete("sales", row) if self.managers.find("sales", row) else None
            elif chosen % 3 == 0:
                self.manager(row, Name=f"{seed}-{n}")
            else:
                self.department(f"{chosen % self.DEPENDENTS:04}", Manager=row, **({"ManagerName": "by a caller"} if chosen % 5 == 0 else {}))

    def keep(self, stop, crashes):
        while not stop.is_set():
            try:
                self.program(crash_at=next(crashes, "")).catch_up(stop)
            except (Crash, tavola.Unavailable):
                pass  # as from a timer: the next call goes on

    def test_every_copy_is_right_in_the_end(self):
        for row in range(self.SOURCES):
            self.manager(str(row), Name="at first")
        self.departments.load({"PartitionKey": "sales", "RowKey": f"{n:04}", "Manager": str(n % 5)} for n in range(self.DEPENDENTS))
        self.create()
        stop, failed = threading.Event(), []

        def carry(function, *arguments):
            try:
                function(*arguments)
            except (tavola.EntityNotFound, Crash):
                pass  # a manager whom another writer has deleted
            except Exception as error:  # told to the test  # noqa: BLE001
                failed.append(error)

        steps = ("read", "noted", "visited", "followed", "built", "moved on", "begun")
        keepers = [threading.Thread(target=carry, args=(self.keep, stop, iter(steps[first:]))) for first in range(3)]
        writers = [threading.Thread(target=carry, args=(self.write, seed)) for seed in range(3)]
        for thread in keepers + writers:
            thread.start()
        self.stack.server.kill()
        self.stack.start_server(wait=False)
        for thread in writers:
            thread.join()
        stop.set()
        for thread in keepers:
            thread.join()
        self.assertEqual(failed, [])
        rule = self.program()
        rule.catch_up()
        known = {one["RowKey"]: one["Name"] for one in self.managers.query()}
        self.assertEqual(self.copies(), {one["RowKey"]: known.get(one["Manager"]) for one in self.departments.query()})
        self.assertEqual((rule.verify(settle=0).in_flight, rule.verify(settle=0).differences, rule.status().waiting), (0, [], 0))


if __name__ == "__main__":
    unittest.main()
