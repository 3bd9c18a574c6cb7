# SPDX-License-Identifier: Apache-2.0
"""The JavaScript SDK of Azure Tables, as npm has it, against a server: sdk.test.mjs has the tests."""

import os
import subprocess
import unittest

from tavola_test.ports import free_port
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

# The account and key that every emulator of the service has: they are public.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


class Sdk(unittest.TestCase):
    def test_sdk(self):
        port = free_port()
        with Stack() as stack:
            stack.start_server(TAVOLA_HTTP_LISTEN=f"127.0.0.1:{port}")
            connection = (
                f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
                f"TableEndpoint=http://127.0.0.1:{port}/{ACCOUNT};"
            )
            environment = {**os.environ, "AZURE_TABLES": connection}
            result = subprocess.run(
                ["node", "--test", "sdk.test.mjs"], cwd=os.environ["AZURE_SDK"], env=environment,
                capture_output=True, text=True, check=False, timeout=240,
            )
            print(result.stdout)
            self.assertEqual(result.returncode, 0, result.stderr + stack.logs())


if __name__ == "__main__":
    unittest.main()
