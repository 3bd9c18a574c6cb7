# SPDX-License-Identifier: Apache-2.0
"""The JavaScript SDK of Azure Tables, as npm has it, against a server: sdk.test.mjs has the tests."""

import os
import shutil
import subprocess
import unittest

from tavola_test.ports import free_port
from tavola_test.settings import SOURCE
from tavola_test.stack import Stack

# The account and key that every emulator of the service has: they are public.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


class Sdk(unittest.TestCase):
    def node(self, stack, *arguments):
        """Run node beside the SDK against a new server of the stack; its output."""
        port = free_port()
        stack.start_server(TAVOLA_HTTP_LISTEN=f"127.0.0.1:{port}")
        connection = (
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
            f"TableEndpoint=http://127.0.0.1:{port}/{ACCOUNT};"
        )
        result = subprocess.run(
            ["node", *arguments], cwd=os.environ["AZURE_SDK"], env={**os.environ, "AZURE_TABLES": connection},
            capture_output=True, text=True, check=False, timeout=240,
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr + stack.logs())
        return result.stdout

    def test_sdk(self):
        with Stack() as stack:
            print(self.node(stack, "--test", "sdk.test.mjs"))

    def test_first_steps(self):
        """The example stands where the SDK is, as it does after npm install."""
        shutil.copy(os.path.join(SOURCE, "examples/azure/first_steps.mjs"), os.environ["AZURE_SDK"])
        with Stack() as stack:
            self.assertEqual(self.node(stack, "first_steps.mjs"), "412 UpdateConditionNotSatisfied\nAda 37\nGrace 45\n")


if __name__ == "__main__":
    unittest.main()
