# SPDX-License-Identifier: Apache-2.0
"""examples/migrate.py copies a table, goes on where it was interrupted, and says what differs."""

import os
import subprocess
import sys
import unittest

from tavola_test.azure import DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Door
from tavola_test.client import entity
from tavola_test.ports import free_port
from tavola_test.settings import SOURCE
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

ENTITIES = 2300
TYPES = {
    "Text": "O'Neil \u0000 ä", "Yes": True, "Small": -5, "Large@odata.type": "Edm.Int64", "Large": "9007199254740993", "Half": 0.5, "Whole": 3.0,
    "None@odata.type": "Edm.Double", "None": "-Infinity", "Day@odata.type": "Edm.DateTime", "Day": "1601-01-01T00:00:00.0000001Z",
    "Id@odata.type": "Edm.Guid", "Id": "00112233-4455-6677-8899-AABBCCDDEEFF", "Bytes@odata.type": "Edm.Binary", "Bytes": "AAEC",
    "tavola.expires": "2999-12-31T00:00:00.5Z",
}


class Migrate(unittest.TestCase):
    def setUp(self):
        self.source, self.target = self.server(), self.server()
        self.source.door.send("POST", "/Tables", {"TableName": "Moved"})
        self.source.door.send("POST", "/Moved", {"PartitionKey": "O'Neil ä%", "RowKey": "", **TYPES})
        with self.source.connect() as caller:
            caller.load("Moved", [entity(f"p{n // 700}", f"r{n:05}", {"N": n}) for n in range(ENTITIES)])

    def server(self):
        stack, port = Stack(redis=False), free_port()
        self.addCleanup(stack.close)
        stack.start_server(TAVOLA_HTTP_LISTEN=f"127.0.0.1:{port}")
        wait_for("the door", lambda: stack.accepts(f"127.0.0.1:{port}"))
        stack.door = Door(port, DEVELOPMENT_KEY, account=DEVELOPMENT_ACCOUNT)
        stack.account = (f"AccountName={DEVELOPMENT_ACCOUNT};AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/"
                         f"K1SZFPTOtr/KBHBeksoGMGw==;TableEndpoint=http://127.0.0.1:{port}/{DEVELOPMENT_ACCOUNT};")
        return stack

    def run_migrate(self, *options):
        script = os.path.join(SOURCE, "examples/migrate.py")
        environment = {**os.environ, "SOURCE": self.source.account, "TARGET": self.target.account}
        return subprocess.run([sys.executable, "-B", script, *options, "Moved"], cwd=self.target.folder, env=environment, text=True,
                              capture_output=True, timeout=120, check=False)

    def test_a_table_is_copied_and_compared(self):
        done = self.run_migrate()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"target: {ENTITIES + 1} entities", done.stdout)
        path = "/Moved(PartitionKey='O''Neil%20%C3%A4%25',RowKey='')"
        wanted = {"Accept": "application/json;odata=nometadata", "x-tavola-expires": "true"}
        read = [stack.door.send("GET", path, **wanted).text for stack in (self.source, self.target)]
        self.assertEqual(*[text.split("Timestamp")[1].split(",", 1)[1] for text in read])
        self.assertIn('"Whole":3.0', read[1])
        self.assertIn('"tavola.expires":"2999-12-31T00:00:00.5Z"', read[1])
        self.target.door.send("PATCH", path, {"Small": 6})
        changed = self.run_migrate("--only-verify")
        self.assertEqual((changed.returncode, changed.stderr), (1, "the tables differ\n"))

    def test_a_copy_that_was_interrupted_goes_on(self):
        """The target ends behind the first page, and comes back."""
        self.target.door.send("POST", "/Tables", {"TableName": "Moved"})
        first = self.source.door.send("GET", "/Moved()")
        with open(os.path.join(self.target.folder, "Moved.migration"), "w", encoding="utf-8") as state:
            state.write('[{"NextPartitionKey": "%s"}, 1000]' % first.headers["x-ms-continuation-NextPartitionKey"])
        done = self.run_migrate()
        self.assertEqual(done.returncode, 1, "what the first run should have copied is missing")
        self.assertIn("goes on behind 1000 entities\ncopied 2000\ncopied 2301\n", done.stdout)
        self.assertIn(f"target: {ENTITIES + 1 - 1000} entities", done.stdout)


if __name__ == "__main__":
    unittest.main()
