# SPDX-License-Identifier: Apache-2.0
"""Database settings that would break a promise: the programs refuse to work on such a database and say why."""

import os
import shutil
import socket
import unittest

from tavola_test.client import entity
from tavola_test.ports import free_port
from tavola_test.processes import run_program
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

LOSING = ("fsync", "full_page_writes", "synchronous_commit")
SUCCEEDED = 3  # a transaction
POOLER = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")


class DatabaseSettings(unittest.TestCase):
    def setUp(self):
        self.stack = Stack()
        self.addCleanup(self.stack.close)
        self.served = 0

    def refuses(self, words, **settings):
        """Assert that server and worker run, serve nothing, and log these words."""
        self.stack.new_target()
        server = self.stack.start_server(wait=False, **settings)
        worker = self.stack.start_worker(**settings)
        for child in (server, worker):
            wait_for(f"{words} in {child.log}", lambda child=child: words in child.output())
        wait_for("the server's socket", self.stack.accepts)
        with self.stack.connect() as probe:
            self.assertEqual(probe.health(), "NOT_SERVING")
        self.assertEqual(server.stop(), 0)
        self.assertEqual(worker.stop(), 0)

    def test_a_database_that_does_not_wait_for_the_disk(self):
        self.stack.sql(f"alter database {self.stack.database} set synchronous_commit = off")
        self.refuses("synchronous_commit=off")
        self.stack.new_target()
        self.stack.start_server(TAVOLA_ALLOW_DATA_LOSS="on")
        self.assertIn("event=data_loss_allowed setting=TAVOLA_ALLOW_DATA_LOSS", self.stack.server.output())

    def test_each_setting_that_would_lose_data(self):
        """Server, worker and `tavola account` refuse it by name, work under the setting that says so, and work once it is on."""
        self.stack = Stack(own_postgres=True, operated=True)
        self.addCleanup(self.stack.close)
        make_account = lambda name, **more: run_program("tavola", "account", "create", name, settings={"TAVOLA_POSTGRES": self.stack.postgres, **more})
        for number, setting in enumerate(LOSING):
            with self.subTest(setting):
                self.set(setting, "off")
                self.refuses(f"{setting}=off")
                refused = make_account("refused")
                self.assertEqual(refused.returncode, 1, refused.stdout)
                self.assertIn(f"{setting}=off", refused.stderr)
                for other in LOSING:
                    self.assertEqual(other in refused.stderr, other == setting, refused.stderr)

                allowed = {"TAVOLA_ALLOW_DATA_LOSS": "on"}
                self.serves(**allowed)
                self.assertIn("event=data_loss_allowed setting=TAVOLA_ALLOW_DATA_LOSS", self.stack.server.output())
                self.assertEqual(make_account(f"allowed{number}", **allowed).returncode, 0)

                self.set(setting, "on")
                self.serves()

    def set(self, setting, value):
        self.stack.sql(f"alter system set {setting} = {value}")
        self.stack.sql("select pg_reload_conf()")
        wait_for(f"{setting} {value}", lambda: self.stack.sql(f"show {setting}") == value)

    def serves(self, **settings):
        """Assert that the server answers calls and the worker does work."""
        self.stack.new_target()
        server = self.stack.start_server(**settings)
        worker = self.stack.start_worker(**settings)
        with self.stack.connect() as caller:
            self.served += 1
            name = f"served{self.served}"
            caller.create_table(name=name)
            caller.submit_transaction(transaction_id=name, steps=[{"insert_or_replace": {"table": name, "entity": entity("p", "r")}}])
            self.assertEqual(caller.wait_transaction(transaction_id=name, timeout=30).transaction.state, SUCCEEDED)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(worker.stop(), 0)

    @unittest.skipUnless(POOLER, "pgbouncer is not installed")
    def test_a_pooler_in_between(self):
        port = free_port()
        settings = os.path.join(self.stack.folder, "pooler.ini")
        with open(settings, "w", encoding="ascii") as file:
            file.write(
                f"[databases]\n* = host={self.stack.postgres_folder} user={self.stack.postgres_user}\n"
                f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\n"
                "unix_socket_dir =\npool_mode = transaction\n"
            )
        os.chmod(self.stack.folder, 0o755)
        user = [] if os.geteuid() else ["-u", "postgres"]
        self.stack.start("pooler", [POOLER, *user, settings])

        def answers():
            with socket.socket() as connection:
                return connection.connect_ex(("127.0.0.1", port)) == 0

        wait_for("the pooler", answers)
        address = f"host=127.0.0.1 port={port} user={self.stack.postgres_user} dbname={self.stack.database}"
        # TAVOLA_ALLOW_DATA_LOSS does not help here: duplicate or missing writes are another kind of loss.
        self.refuses("pooler", TAVOLA_POSTGRES=address)
        self.refuses("pooler", TAVOLA_POSTGRES=address, TAVOLA_ALLOW_DATA_LOSS="on")


if __name__ == "__main__":
    unittest.main()
