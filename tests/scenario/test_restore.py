# SPDX-License-Identifier: Apache-2.0
"""A database that was restored from a cold copy: ETags and tokens of writes that the copy does not have are refused."""

import os
import shutil
import signal
import unittest

from tavola_test.client import ApiError, entity, match, value
from tavola_test.feed import Watch
from tavola_test.processes import run_program
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.stack import Stack, wait_ready
from tavola_test.waiting import wait_for

LOST = 5
SIZE = 30000  # bytes of each


class Restore(unittest.TestCase):
    def setUp(self):
        self.number = 0
        self.stack = Stack(own_postgres=True)
        self.addCleanup(self.stack.close)
        self.start_programs()
        self.client.create_table(name="people", change_feed=True)
        index = {"name": "byCity", "table": "people", "shape": 1, "place": 2}
        self.client.create_index(index={**index, "partition_key": [{"property": "City"}]})
        wait_ready(self.client, "byCity")

    def start_programs(self):
        self.stack.start_server()
        self.stack.start_worker()
        self.client = self.stack.connect()
        self.addCleanup(self.client.channel.close)

    def stop_programs(self):
        self.stack.worker.kill()
        self.stack.server.kill()

    def put(self, row="a"):
        """A new value each time. Callers try again while the database is away."""
        self.number += 1
        city = f"city {self.number}"

        def attempt():
            try:
                return self.client.insert_or_replace_entity(
                    table="people", entity=entity("p", row, City=city, Text="x" * SIZE), timeout=10
                ).result
            except ApiError as error:
                if error.code not in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
                    raise
                return None

        return wait_for("a write", attempt, 30)

    def epoch(self):
        return int(self.stack.sql("select epoch from catalogue"))

    # the copy

    def stop_postgres(self):
        self.stack.cluster.server.send(signal.SIGINT)
        self.stack.cluster.server.wait()

    def copy(self):
        self.stop_postgres()
        self.saved = self.stack.cluster.folder + ".copy"
        shutil.copytree(self.stack.cluster.folder, self.saved, symlinks=True)
        self.stack.restart_own_postgres()

    def put_back(self):
        self.stop_postgres()
        folder = self.stack.cluster.folder
        shutil.rmtree(folder)
        shutil.copytree(self.saved, folder, symlinks=True)
        os.chmod(folder, 0o700)
        for path, folders, files in os.walk(folder):
            for name in ["", *folders, *files]:
                self.stack.cluster.hand_over(os.path.join(path, name) if name else path)

    # what callers were given, and the copy has lost

    def told_by_what_is_lost(self):
        """An ETag, a consistency token and a feed position of writes that the copy does not have."""
        watch = Watch(self.client, "people").begin()
        self.addCleanup(watch.close)
        for _ in range(LOST):
            lost = self.put()
        self.assertTrue(lost.consistency_token)
        watch.until(LOST)
        return lost.etag, lost.consistency_token, watch.token

    def wait_until_remembered(self):
        """The hint was renewed more often than a check of the epoch that was running could have done."""
        for _ in range(3):
            before = self.stack.redis_command("GET", "tavola:{history}")

            def renewed():
                self.put("other")
                return self.stack.redis_command("GET", "tavola:{history}") != before

            wait_for("another hint", renewed, 30)

    def refused(self, reason, call, **fields):
        with self.assertRaises(ApiError) as caught:
            call(**fields)
        self.assertEqual(caught.exception.reason, reason, caught.exception)

    def check(self, told):
        etag, token, place = told
        for _ in range(LOST):
            self.put()
        self.refused(
            "UPDATE_CONDITION_NOT_SATISFIED",
            self.client.replace_entity,
            table="people",
            entity=entity("p", "a", City="Rome"),
            precondition=match(etag),
        )
        self.refused(
            "TOKEN_EXPIRED",
            self.client.lookup_index,
            index="byCity",
            equals=[value("city 1")],
            freshness={"at_least": [token]},
            timeout=10 * TIMEOUT_FACTOR,
        )
        with self.assertRaises(ApiError) as caught:
            Watch(self.client, "people", token=place, timeout=20).until(1)
        self.assertEqual(caught.exception.reason, "RESYNC_REQUIRED", caught.exception)

    def test_a_program_that_runs_remembers(self):
        self.copy()
        told = self.told_by_what_is_lost()
        self.wait_until_remembered()
        self.put_back()
        self.stack.restart_own_postgres()
        self.check(told)
        epoch = self.epoch()
        self.assertGreater(epoch, 0)

        self.stop_programs()
        self.start_programs()
        self.put()
        self.assertEqual(self.epoch(), epoch)

    def test_redis_remembers_for_programs_that_start(self):
        self.copy()
        told = self.told_by_what_is_lost()
        self.wait_until_remembered()
        self.stop_programs()
        self.put_back()
        self.stack.restart_own_postgres()
        self.start_programs()
        self.check(told)
        wait_for("the log", lambda: "epoch_raised" in self.stack.server.output() + self.stack.worker.output())

    def test_an_operator_remembers(self):
        self.copy()
        told = self.told_by_what_is_lost()
        self.stop_programs()
        self.stack.redis_command("FLUSHALL")
        self.put_back()
        self.stack.restart_own_postgres()
        result = run_program("tavola", "epoch", "raise", settings={"TAVOLA_POSTGRES": self.stack.postgres})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"epoch {self.epoch()}", result.stdout)
        self.start_programs()
        self.check(told)

    def test_crashes_are_no_restores(self):
        for _ in range(3):
            self.put()
            self.stack.cluster.kill()
            self.stack.restart_own_postgres()
            self.put()
        self.assertEqual(self.epoch(), 0)


if __name__ == "__main__":
    unittest.main()
