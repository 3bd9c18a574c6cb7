# SPDX-License-Identifier: Apache-2.0
"""A fixed slice of the crash matrix (crash.py); ./dev crash is all of it."""

import sys
import unittest

import crash
from tavola_test.provocations import provocation_of

# Every fault, at the first and the second passage, in all kinds of work.
SLICE = [
    ("reconcile.between_add_and_remove", "kill", 2),
    ("reconcile.after_commit_before_ack", "stop", 1),
    ("step.before_record", "kill", 1),
    ("step.after_commit", "flush", 2),
    ("submit.before_commit", "postgres", 1),
    ("write.after_commit", "kill", 1),
    ("write.after_second_commit", "kill", 1),
    ("write.before_commit", "postgres+kill", 2),
    ("server.after_commit_before_publish", "redis+kill", 1),
    ("relay.after_publish", "flush+kill", 1),
    ("build.chunk_before_checkpoint", "postgres", 2),
    ("build_walk.after_owners", "kill", 1),
    ("repair.before_commit", "error", 1),
    ("dead_letter.before_bury", "redis", 1),
    ("redrive.before_commit", "error", 2),
    ("cancel.before_commit", "kill", 2),
    ("range_delete.before_checkpoint", "kill", 1),
    ("feed.purge_before_commit", "kill", 2),
    ("catalogue.before_commit", "stop", 1),
    ("purge.before_end", "error", 1),
    ("sweep.after_floor", "kill", 1),
    ("periods.between_tables", "kill", 2),
    ("chunk_move.after_copy", "kill", 1),
]


class Slice(crash.Cases):
    turn_pause = 0.1  # points are passed with few calls, and while leases run out the callers would make thousands


class Crash(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.driver = Slice()
        cls.addClassCleanup(cls.driver.close)

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            print(self.driver.stack.logs(), file=sys.stderr)

    def test_1_every_point_is_passed(self):
        self.assertEqual([point for point in crash.points_in_sources() if not provocation_of(point)], [])
        self.driver.pass_all()

    def test_2_the_slice(self):
        faults = {fault for _, fault, _ in SLICE}
        self.assertEqual(faults, set(crash.FAULTS))
        for case in SLICE:
            self.driver.run(*case)
            print(*case, "ok", flush=True)


if __name__ == "__main__":
    unittest.main()
