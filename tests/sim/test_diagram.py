# SPDX-License-Identifier: Apache-2.0
"""Tests of diagram.py: which steps of a trace make the story, and that it is the same for every schedule of its kind."""

import unittest

import diagram

TRACE = """\
 1000.1 step of actor {server} about [key {key}][range 8]: begins a write and draws id {first}
 1000.2 step of actor {server} about [key {key}][range 8]: commits Bonn, with an intent of id {first}
 1000.2 state of [key {key}]: entity Bonn, version {version}; entry none; open intents 1
 1000.3 actor 3: scan
 1000.3 step of actor 0 about [key {other}]: begins a reconcile
 1000.3 step of actor 2 about [key {key}]: begins a reconcile
 1000.4 step of actor 2 about [key {key}]: reads the entity: Bonn, version {version}
 1000.5 step of actor {server} about [key {key}][range 8]: begins a write and draws id {second}
 1000.6 step of actor {server} about [key {key}][range 8]: commits Aalen, with an intent of id {second}
 1000.6 state of [key {key}]: entity Aalen, version {next_version}; entry none; open intents 2
 1000.7 step of actor 2 about [key {key}]: commits the entry of Bonn, version {version}
 1000.7 state of [key {key}]: entity Aalen, version {next_version}; entry Bonn; open intents 0
 1000.7 I2: key {key} has an entry that its value does not give
 1000.8 step of actor 0 about [key {key}]: begins a reconcile
"""


def story(**named):
    return diagram.Story("1", *diagram.story_of(TRACE.format(**named).splitlines()))


class Stories(unittest.TestCase):
    def setUp(self):
        self.story = story(server=4, key=1, other=2, version=7, next_version=8, first=11, second=14)

    def test_only_what_overlaps_the_failed_transaction_is_kept(self):
        self.assertEqual([row[:2] for row in self.story.rows], [
            ("worker 1", "begins a reconcile"),
            ("worker 1", "reads the entity: Aalen, version 1"),
            ("server 1", "begins a write and draws id 1"),
            ("server 1", "commits Bonn, with an intent of id 1"),
            ("worker 1", "commits the entry of Aalen, version 1"),
        ])

    def test_states_stand_before_the_first_step_and_after_each_commit(self):
        self.assertEqual(self.story.before, "entity Aalen, version 1; entry none; open intents 1")
        self.assertEqual([row[2] for row in self.story.rows if row[2]], [
            "entity Bonn, version 2; entry none; open intents 2", "entity Bonn, version 2; entry Aalen; open intents 0"])

    def test_names_numbers_and_keys_make_no_difference(self):
        other = story(server=5, key=2, other=0, version=3, next_version=9, first=1, second=2)
        self.assertEqual(diagram.without_seed(diagram.draw("G8", other)), diagram.without_seed(diagram.draw("G8", self.story)))

    def test_other_steps_are_another_diagram(self):
        changed = TRACE.replace("commits Aalen, with", "commits absent, with")
        other = diagram.Story("1", *diagram.story_of(changed.format(server=4, key=1, other=2, version=7, next_version=8, first=1, second=2).splitlines()))
        self.assertNotEqual(diagram.draw("G8", other), diagram.draw("G8", self.story))

    def test_a_trace_without_a_failure_has_no_story(self):
        self.assertIsNone(diagram.story_of(["1000.0 actor 1: claim"]))


if __name__ == "__main__":
    unittest.main()
