# SPDX-License-Identifier: Apache-2.0
"""The drill of docs/backup.md: a base backup under load, a disaster, and recovery to the moment before it."""

import os
import shutil
import signal
import subprocess
import threading
import unittest

from tavola_test.client import entity, types
from tavola_test.postgres import BINARIES
from tavola_test.processes import run_program
from tavola_test.stack import Stack, wait_ready
from tavola_test.waiting import wait_for

CITIES = 5
SCAN = types.message("tavola.v1.ScanEntitiesRequest")


class Writer:
    """Writes one entity after the other until it is stopped, and knows what was acknowledged."""

    def __init__(self, stack):
        self.stack = stack
        self.acknowledged = {}
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()

    def run(self):
        with self.stack.connect() as caller:
            while not self.stopping.is_set():
                number = len(self.acknowledged)
                city = f"city {number % CITIES}"
                caller.insert_or_replace_entity(table="people", entity=entity("p", str(number), City=city))
                self.acknowledged[str(number)] = city

    def wait_for_more(self, count=50):
        wanted = len(self.acknowledged) + count
        wait_for("more writes", lambda: len(self.acknowledged) >= wanted, 30)


class Backup(unittest.TestCase):
    def setUp(self):
        self.stack = Stack(own_postgres=True)
        self.addCleanup(self.stack.close)
        self.cluster = self.stack.cluster
        self.archive, self.backup = (self.cluster.folder + end for end in (".archive", ".backup"))
        for folder in (self.archive, self.backup):
            os.mkdir(folder, 0o700)
            self.cluster.hand_over(folder)
        self.stop_postgres()
        self.cluster.settings |= {"archive_mode": "on", "archive_command": f"cp %p {self.archive}/%f"}
        self.stack.restart_own_postgres()
        self.start_programs()
        with self.stack.connect() as caller:
            caller.create_table(name="people")
            caller.create_index(index={"name": "byCity", "table": "people", "shape": 1, "place": 2, "partition_key": [{"property": "City"}]})
            wait_ready(caller, "byCity")

    def start_programs(self):
        self.stack.start_server()
        self.stack.start_worker()

    def stop_postgres(self):
        self.cluster.server.send(signal.SIGINT)
        self.cluster.server.wait()

    def back_up(self):
        argv = [BINARIES + "/pg_basebackup", "-h", self.cluster.folder, "-U", "postgres", "-D", self.backup,
                "--checkpoint=fast", "--wal-method=stream", "--no-sync"]
        subprocess.run(["setpriv", *self.cluster.become, *argv], check=True, capture_output=True, cwd="/")

    def recover(self, target):
        """Put the backup into the place of the cluster, and let PostgreSQL read the archive up to the target."""
        shutil.rmtree(self.cluster.folder)
        os.rename(self.backup, self.cluster.folder)
        path = os.path.join(self.cluster.folder, "recovery.signal")
        with open(path, "w", encoding="ascii"):
            pass
        self.cluster.hand_over(path)
        self.cluster.settings |= {"restore_command": f"cp {self.archive}/%f %p", "recovery_target_name": target,
                                  "recovery_target_action": "promote"}
        self.stack.restart_own_postgres()
        wait_for("the end of recovery", lambda: self.stack.sql("select pg_is_in_recovery()") == "f", 60)

    def stored(self):
        with self.stack.connect() as caller:
            return {row.row_key: row.properties["City"].string_value
                    for page in caller.scan_entities([SCAN(query={"table": "people"})]) for row in page.entities}

    def test_recovery_to_the_moment_before_a_disaster(self):
        with Writer(self.stack) as writer:
            writer.wait_for_more()
            self.back_up()
            writer.wait_for_more()
        kept = dict(writer.acknowledged)
        epoch = int(self.stack.sql("select epoch from catalogue"))
        self.stack.sql("select pg_create_restore_point('before')")
        self.stack.sql("delete from entities")  # the disaster
        self.stack.sql("select pg_switch_wal()")
        self.stack.worker.kill()
        self.stack.server.kill()
        self.stop_postgres()  # what is left of the log is archived
        self.recover("before")
        self.start_programs()
        wait_for("a new epoch", lambda: int(self.stack.sql("select epoch from catalogue")) > epoch, 30)
        self.assertEqual(self.stored(), kept)
        with self.stack.connect() as caller:
            caller.insert_or_replace_entity(table="people", entity=entity("p", "new", City="city 0"))
        verified = run_program("tavola", "index", "verify", "byCity", settings={"TAVOLA_TARGET": self.stack.target})
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        self.assertIn(f"sources={len(kept) + 1} ", verified.stdout)


if __name__ == "__main__":
    unittest.main()
