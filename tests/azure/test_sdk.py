# SPDX-License-Identifier: Apache-2.0
"""The JavaScript SDK of Azure Tables, as npm has it, against a server: sdk.test.mjs and signed.test.mjs have the tests."""

import base64
import os
import shutil
import subprocess
import unittest

from tavola_test.azure import DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY
from tavola_test.ports import free_port
from tavola_test.security_case import SecurityCase
from tavola_test.settings import SOURCE
from tavola_test.stack import Stack

ACCOUNT, KEY = DEVELOPMENT_ACCOUNT, base64.b64encode(DEVELOPMENT_KEY).decode()


def run_node(stack, arguments, **environment):
    """Run node beside the SDK; its output. It must end well."""
    result = subprocess.run(
        ["node", *arguments], cwd=os.environ["AZURE_SDK"], env={**os.environ, **environment},
        capture_output=True, text=True, check=False, timeout=240,
    )
    if result.returncode != 0:
        raise AssertionError(result.stdout + result.stderr + stack.logs())
    return result.stdout


class Signed(SecurityCase):
    """With authentication: the keys of an account made for this."""

    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.settings = {"TAVOLA_HTTP_LISTEN": f"127.0.0.1:{cls.port}"}
        super().setUpClass()

    def test_signed(self):
        print(run_node(
            self.stack, ["--test", "signed.test.mjs"], AZURE_ENDPOINT=f"http://127.0.0.1:{self.port}/acme",
            AZURE_ACCOUNT="acme", AZURE_KEY=base64.b64encode(self.keys[0]).decode(),
        ))


class Sdk(unittest.TestCase):
    def node(self, stack, *arguments):
        """Run node beside the SDK against a new server of the stack; its output."""
        port = free_port()
        stack.start_server(TAVOLA_HTTP_LISTEN=f"127.0.0.1:{port}")
        connection = (
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
            f"TableEndpoint=http://127.0.0.1:{port}/{ACCOUNT};"
        )
        return run_node(stack, arguments, AZURE_TABLES=connection, AZURE_ENTITIES=os.environ.get("TEST_ENTITIES", "5000"))

    def test_sdk(self):
        with Stack() as stack:
            stack.start_worker()
            print(self.node(stack, "--test", "sdk.test.mjs", "sdk_access.test.mjs"))

    def test_first_steps(self):
        """The example stands where the SDK is, as it does after npm install."""
        shutil.copy(os.path.join(SOURCE, "examples/azure/first_steps.mjs"), os.environ["AZURE_SDK"])
        with Stack() as stack:
            self.assertEqual(self.node(stack, "first_steps.mjs"), "412 UpdateConditionNotSatisfied\nAda 37\nGrace 45\n")


if __name__ == "__main__":
    unittest.main()
