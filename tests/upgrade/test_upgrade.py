# SPDX-License-Identifier: Apache-2.0
"""The release before beside this one, under load: upgraded in both orders, rolled back, and upgraded again.

TEST_PREVIOUS: the folder with the built programs of the commit that tests/upgrade/PREVIOUS names; `./dev upgrade` builds them.
"""

import json
import os
import subprocess
import unittest
import uuid

from tavola_test import log_lines, ports
from tavola_test.client import Client, entity
from tavola_test.load import Load
from tavola_test.processes import program_environment
from tavola_test.settings import BIN, TIMEOUT_FACTOR
from tavola_test.stack import Stack, wait_ready
from tavola_test.waiting import wait_for

PREVIOUS = os.environ["TEST_PREVIOUS"]

# What a careful caller sets: the next server if one is stopping, and request ids. The callers of the load accept no other failure.
RETRIES = json.dumps({
    "loadBalancingConfig": [{"round_robin": {}}],
    "methodConfig": [{"name": [{}], "retryPolicy": {
        "maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"]}}],
})


def with_request_id(call):
    """A write that is sent again, since the server stopped before its answer arrived, is not done again."""
    return lambda **fields: call(request_id=str(uuid.uuid4()), **fields)


class TwoServers(Stack):
    """Two servers and a worker, each of either release; callers know both servers."""

    def __init__(self):
        super().__init__(migrate=False)
        self.ports = [ports.free_port(), ports.free_port()]
        self.target = "ipv4:" + ",".join(f"127.0.0.1:{port}" for port in self.ports)
        self.servers, self.part = {}, None

    def connect(self, **options):
        given = {"grpc.service_config": RETRIES, "grpc.enable_retries": 1, **dict(options.pop("options", {}))}
        made = super().connect(options=given.items(), **options)
        for name in ("insert_or_replace_entity", "delete_entity"):
            setattr(made, name, with_request_id(getattr(made, name)))
        return made

    def run(self, release, *words):
        return subprocess.run(
            [os.path.join(release, "tavola"), *words], env=program_environment({"TAVOLA_POSTGRES": self.postgres}),
            capture_output=True, text=True, timeout=120 * TIMEOUT_FACTOR)

    def start_part_of(self, release, name, program, settings):
        child = self.start(name, [os.path.join(release, program)], settings)
        wait_for(f"{name} of {release}", lambda: log_lines.of(child.output(), "listening" if program == "tavolad" else "ready"))
        return child

    def set_server(self, release, number):
        """The server `number` is from now on of this release."""
        if number in self.servers:
            assert self.servers[number].stop() == 0
        listen = f"127.0.0.1:{self.ports[number]}"
        self.servers[number] = self.start_part_of(
            release, f"server{number}-{len(self.children)}", "tavolad", self.server_settings(TAVOLA_LISTEN=listen))

    def set_worker(self, release):
        if self.part:
            assert self.part.stop() == 0
        self.part = self.start_part_of(
            release, f"worker-{len(self.children)}", "tavola-worker", self.settings({"TAVOLA_SCRUB_SHARE": "0"}))

    def set_all(self, release, order, load=None):
        for part in order:
            if part == "worker":
                self.set_worker(release)
            else:
                self.set_server(release, 0)
                if load:
                    load.go_on()
                self.set_server(release, 1)
            if load:
                load.go_on()


class Upgrade(unittest.TestCase):
    def setUp(self):
        self.stack = TwoServers()
        self.addCleanup(self.stack.close)

    def migrate(self, release):
        result = self.stack.run(release, "migrate")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def expand(self):
        """The migrations of this release; if it has none, one that adds a column, as those of the next one may."""
        if "would apply" in self.stack.run(BIN, "migrate", "--plan").stdout:
            self.assertIn("applied", self.migrate(BIN))
            return
        known = int(self.stack.sql("select max(version) from schema_migrations"))
        # Each in a transaction of its own: the load locks both tables, in either order.
        self.stack.sql("alter table intents add column later integer")
        self.stack.sql("alter table entities add column later integer")
        self.stack.sql(f"insert into schema_migrations (version, name, oldest_program) values ({known + 1}, 'later', {known})")

    def upgrade(self, order):
        stack = self.stack
        self.migrate(PREVIOUS)
        stack.set_all(PREVIOUS, order)
        load = Load(stack)
        with load:
            load.go_on()
            self.expand()
            load.go_on()
            stack.set_all(BIN, order, load)
            stack.set_all(PREVIOUS, list(reversed(order)), load)
            self.assertIn("which works with it", self.migrate(PREVIOUS), "as the chart does when it is rolled back")
            stack.set_all(BIN, order, load)
        load.check()

    def test_servers_first(self):
        self.upgrade(["servers", "worker"])

    def test_worker_first(self):
        self.upgrade(["worker", "servers"])

    def test_an_index_that_a_new_server_makes_is_kept_and_read_by_the_previous_release(self):
        """A server and the worker of the previous release read the declaration, and what they write is found through the new server."""
        stack = self.stack
        self.migrate(PREVIOUS)
        self.expand()
        stack.set_server(PREVIOUS, 0)
        stack.set_server(BIN, 1)
        stack.set_worker(PREVIOUS)
        old, new = (self.enterContext(Client(f"127.0.0.1:{port}")) for port in stack.ports)
        old.create_table(name="people")
        new.create_index(index={"name": "byCity", "table": "people", "shape": 1, "place": 2, "partition_key": [{"property": "City"}]})
        wait_ready(old, "byCity")
        for _ in range(2):  # the second write changes no property, and the ETag
            written = old.insert_or_replace_entity(table="people", entity=entity("p", "r", City="Rome"))
        for caller in (old, new):
            found = caller.lookup("byCity", ["Rome"], freshness={"latest": True})
            self.assertEqual([hit.etag for hit in found], [written.result.etag])

    def test_the_previous_release_connects_again_to_the_schema_of_this_one(self):
        """Its programs lose all their connections after the migration, as in a failover of the database."""
        stack = self.stack
        self.migrate(PREVIOUS)
        stack.set_all(PREVIOUS, ["servers", "worker"])
        load = Load(stack)
        with load:
            self.expand()
            stack.sql(f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{stack.database}'"
                      " and pid <> pg_backend_pid()")
            load.go_on()
        load.check()


if __name__ == "__main__":
    unittest.main()
