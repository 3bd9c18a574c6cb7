# SPDX-License-Identifier: Apache-2.0
"""The load generators of the bench: every request is sent, and failed calls are counted."""

import itertools
import os
import struct
import subprocess
import unittest

from tavola_test.client import entity, key, types
from tavola_test.processes import bench_program
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.stack import Stack

SERVICE = "/tavola.v1.EntityService/"
ENTITIES = 300
CLIENTS = list(itertools.product(("bench_load", "bench_h2_load"), ("connections=1", "connections=3")))
LARGE = "x" * 30_000  # the stream has several frames


class Loads(unittest.TestCase):
    def setUp(self):
        self.stack = Stack()
        self.addCleanup(self.stack.close)
        self.stack.start_server()
        self.caller = self.stack.connect()
        self.addCleanup(self.caller.channel.close)
        self.caller.create_table(name="loaded")

    def file(self, requests):
        path = os.path.join(self.stack.folder, "requests")
        with open(path, "wb") as file:
            for request in requests:
                message = request.SerializeToString()
                file.write(struct.pack(">BI", 0, len(message)) + message)
        return path

    def load(self, program, method, path, *options):
        """The output of the load generator, and its exit code."""
        command = [bench_program(program), self.stack.target, SERVICE + method, path, *options]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60 * TIMEOUT_FACTOR)
        words = done.stdout.split()
        told = {name: float(value) for name, value in zip(words[::2], words[1::2])}
        return told | {"exit": done.returncode, "complaint": done.stderr}

    def test_every_request_is_sent_once(self):
        insert, get = types.message("tavola.v1.InsertEntityRequest"), types.message("tavola.v1.GetEntityRequest")
        for number, (program, connections) in enumerate(CLIENTS):
            keys = [(f"p{number}", f"r{n}") for n in range(ENTITIES)]
            inserts = self.file(insert(table="loaded", entity=entity(*one, A=LARGE if one[1] == "r0" else one[1])) for one in keys)
            seen = self.load(program, "InsertEntity", inserts, "64", "60", "once", connections)
            self.assertEqual((seen["calls"], seen["failed"], seen["exit"]), (ENTITIES, 0, 0), seen["complaint"])
            gets = self.file(get(table="loaded", key=key(one)) for one in keys)
            seen = self.load(program, "GetEntity", gets, "64", "60", "once", connections)
            self.assertEqual((seen["calls"], seen["failed"]), (ENTITIES, 0))
            # All replies but one have a few bytes.
            self.assertGreater(seen["reply_bytes"] * ENTITIES, len(LARGE))
            self.assertLess(seen["reply_bytes"] * ENTITIES, 2 * len(LARGE))

    def test_goes_on_until_the_time_is_over(self):
        self.caller.insert_entity(table="loaded", entity=entity("p", "r"))
        path = self.file([types.message("tavola.v1.GetEntityRequest")(table="loaded", key=key(("p", "r")))])
        for program, connections in CLIENTS:
            seen = self.load(program, "GetEntity", path, "8", "0.3", connections)
            self.assertEqual((seen["failed"], seen["exit"]), (0, 0), seen["complaint"])
            self.assertGreater(seen["calls"], 8)
            self.assertGreater(seen["seconds"], 0.29)
            self.assertGreater(seen["p50_us"], 0)

    def test_an_error_is_a_failed_call(self):
        path = self.file([types.message("tavola.v1.GetEntityRequest")(table="loaded", key=key(("p", "absent")))] * 20)
        for program, connections in CLIENTS:
            seen = self.load(program, "GetEntity", path, "8", "60", "once", connections)
            self.assertEqual((seen["calls"], seen["failed"], seen["exit"]), (20, 20, 1))
            self.assertNotEqual(seen["complaint"], "")


if __name__ == "__main__":
    unittest.main()
