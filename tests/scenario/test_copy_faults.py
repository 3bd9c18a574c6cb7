# SPDX-License-Identifier: Apache-2.0
"""Copies that a rule keeps while its workers and the server are killed or stand still, and after a restore of the database."""

import os
import shutil
import signal
import threading
import unittest

from crash import points_in_sources
from tavola_test.client import ApiError, Client, entity, key, match, plain
from tavola_test.copy_callers import rule_of, wrong_copies
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.stack import Stack, wait_ready
from tavola_test.waiting import wait_for

DEPARTMENTS = 250
QUICK = {"TAVOLA_VISIBILITY_TIMEOUT_SECONDS": "1", "TAVOLA_SWEEP_INTERVAL_SECONDS": "1"}
LOST_ANSWERS = {"UNAVAILABLE", "DEADLINE_EXCEEDED", "ABORTED", "UNKNOWN", "CANCELLED", "INTERNAL"}


class CopyFaults(unittest.TestCase):
    own_postgres = False

    def setUp(self):
        self.stack = Stack(own_postgres=self.own_postgres)
        self.addCleanup(self.stack.close)
        self.stack.start_server()
        self.client = self.stack.connect()
        self.addCleanup(lambda: self.client.channel.close())
        for table in ("managers", "departments"):
            self.client.create_table(name=table)
        self.manager("1", "Ada")
        self.client.load("departments", [entity("sales", f"{row:04}", Manager="1") for row in range(DEPARTMENTS)])

    def start_worker(self, **settings):
        return self.stack.start_worker(**QUICK, **settings)

    def declare(self, name="managerOf", **more):
        self.client.create_index(index=rule_of(name, "managers", "departments", **more))
        wait_ready(self.client, name)

    def manager(self, row, name):
        self.client.insert_or_replace_entity(table="managers", entity=entity("sales", row, Name=name))

    def department(self, row, manager):
        self.client.insert_or_replace_entity(table="departments", entity=entity("sales", row, Manager=manager))

    def wrong(self):
        return wrong_copies(self.client, "managers", "departments")

    def wait_until_kept(self, rule="managerOf"):
        def waiting():
            status = self.client.get_index(name=rule).status.copies
            return status.waiting_sources + status.waiting_dependents

        wait_for("the end of the work", lambda: not waiting(), 60)

    def assert_kept(self, rule="managerOf"):
        """Nothing waits, every copy is right, and the rule itself finds no difference."""
        self.wait_until_kept(rule)
        self.assertEqual(self.wrong(), [])
        operation = self.client.verify_index(name=rule).operation
        self.client.wait_operation(operation_id=operation.operation_id, timeout=60)
        report = self.client.get_index_report(operation_id=operation.operation_id).report
        self.assertEqual((report.copies, report.in_flight, report.missing, report.dangling), (0, 0, 0, 0))


class Workers(CopyFaults):
    def points(self, *prefixes):
        found = [point for point in points_in_sources() if point.startswith(prefixes)]
        self.assertTrue(found, prefixes)
        return found

    def test_a_worker_that_is_killed_at_any_step(self):
        self.start_worker()
        self.declare()
        for number, point in enumerate(self.points("copy.", "visit.")):
            with self.subTest(point):
                self.stack.worker.kill()
                self.manager("1", f"name {number}")
                self.department("0000", "1")
                killed = self.start_worker(TAVOLA_FAILPOINT=f"{point}:kill:1")
                wait_for(f"the end at {point}", lambda killed=killed: not killed.is_running(), 60)
                self.assertEqual(killed.exit_code(), -signal.SIGKILL)
                self.start_worker()
                self.assert_kept()

    def test_a_worker_that_is_killed_at_any_step_of_a_build(self):
        for number, point in enumerate(self.points("copy_build.")):
            with self.subTest(point):
                rule = f"rule{number}"
                self.client.create_index(index=rule_of(rule, "managers", "departments"))
                killed = self.start_worker(TAVOLA_FAILPOINT=f"{point}:kill:1")
                wait_for(f"the end at {point}", lambda killed=killed: not killed.is_running(), 60)
                self.start_worker()
                wait_ready(self.client, rule)
                self.assert_kept(rule)
                self.client.drop_index(name=rule)
                self.stack.worker.kill()

    def stopped_at(self, point):
        """A worker that stands still at the point."""
        worker = self.start_worker(TAVOLA_WORKER_NAME="sleeper", TAVOLA_FAILPOINT=f"{point}:stop:1")
        wait_for(f"a worker at {point}", worker.is_stopped, 60)
        return worker

    def test_a_worker_that_sleeps_writes_no_old_name(self):
        self.start_worker()
        self.declare()
        self.stack.worker.kill()
        self.manager("1", "Grace")
        sleeper = self.stopped_at("copy.after_source_read")
        self.manager("1", "Grace Hopper")
        self.start_worker()
        sleeper.send(signal.SIGCONT)
        self.assert_kept()

    def test_a_source_that_changes_during_its_visit(self):
        self.start_worker()
        self.declare()
        self.stack.worker.kill()
        self.manager("1", "Grace")
        sleeper = self.stopped_at("visit.after_commit")
        self.assertLess(0, len(self.wrong()))
        visited = self.client.get_index(name="managerOf").status.copies.visited
        self.assertEqual((visited > 0, visited < DEPARTMENTS), (True, True))
        self.manager("1", "Grace Hopper")
        sleeper.send(signal.SIGCONT)
        self.assert_kept()


class Everything(CopyFaults):
    """Writers on both sides, two workers of which one is killed again and again, and a server that is killed."""

    SOURCES, WRITES = 4, 150

    def write(self, seed):
        client = None
        for number in range(self.WRITES):
            chosen = (seed * 7919 + number * 104729) % 1000
            row = str(chosen % self.SOURCES)
            while True:
                try:
                    client = client or Client(self.stack.target)
                    self.write_one(client, chosen, row, f"{seed}-{number}")
                    break
                except ApiError as error:
                    if error.code not in LOST_ANSWERS:
                        raise
                    client.channel.close()
                    client = None
        client.channel.close()

    @staticmethod
    def write_one(client, chosen, row, name):
        if chosen % 11 == 0:
            try:
                client.delete_entity(table="managers", key=key(("sales", row)), precondition=match(), timeout=5)
            except ApiError as error:
                if error.reason != "RESOURCE_NOT_FOUND":
                    raise
        elif chosen % 3 == 0:
            client.insert_or_replace_entity(table="managers", entity=entity("sales", row, Name=name), timeout=5)
        else:
            copy = {"ManagerName": "by a caller"} if chosen % 5 == 0 else {}
            client.insert_or_replace_entity(table="departments", timeout=5,
                                            entity=entity("sales", f"{chosen % DEPARTMENTS:04}", {"Manager": row, **copy}))

    def test_every_copy_is_right_in_the_end(self):
        self.start_worker(TAVOLA_WORKER_NAME="one")
        self.declare()
        failed = []

        def carry(seed):
            try:
                self.write(seed)
            except Exception as error:  # told to the test
                failed.append(error)

        writers = [threading.Thread(target=carry, args=(seed,)) for seed in range(3)]
        for thread in writers:
            thread.start()
        killed = self.start_worker(TAVOLA_WORKER_NAME="two", TAVOLA_FAILPOINT="copy.before_commit:kill:20")
        self.stack.server.kill()
        self.stack.start_server()
        for thread in writers:
            thread.join(120 * TIMEOUT_FACTOR)
        killed.kill()
        self.assertEqual(failed, [])
        self.client.channel.close()
        self.client = self.stack.connect()
        self.assert_kept()


class Restored(CopyFaults):
    own_postgres = True

    def cluster_copied(self, back=False):
        """Stop PostgreSQL, copy its folder to another place or back, and start it."""
        folder = self.stack.cluster.folder
        self.stack.cluster.server.send(signal.SIGINT)
        self.stack.cluster.server.wait()
        if back:
            shutil.rmtree(folder)
        shutil.copytree(*((folder + ".copy", folder) if back else (folder, folder + ".copy")), symlinks=True)
        os.chmod(folder, 0o700)
        for path, folders, files in os.walk(folder):
            for name in ["", *folders, *files]:
                self.stack.cluster.hand_over(os.path.join(path, name) if name else path)
        self.stack.restart_own_postgres()

    def test_copies_go_on_after_a_restore(self):
        self.start_worker()
        self.declare()
        self.stack.worker.kill()
        self.manager("1", "in the copy")
        worker = self.start_worker(TAVOLA_FAILPOINT="visit.after_commit:kill:1")
        wait_for("the middle of a visit", lambda: not worker.is_running(), 60)
        self.stack.server.kill()
        self.cluster_copied()
        self.stack.start_server()
        self.start_worker()
        self.wait_until_kept()
        self.manager("1", "not in the copy")
        self.wait_until_kept()
        self.stack.worker.kill()
        self.stack.server.kill()
        self.cluster_copied(back=True)
        self.stack.start_server()
        self.start_worker()
        self.assert_kept()
        self.assertEqual({plain(one)["ManagerName"] for one in self.client.query("departments")}, {"in the copy"})


if __name__ == "__main__":
    unittest.main()
