# SPDX-License-Identifier: Apache-2.0
"""Account keys that are encrypted in the database: what a backup has, wrapping keys that are replaced, and a server that cannot
read them.
"""

import os
import unittest

from tavola_test import log_lines
from tavola_test.credentials import key_of, token
from tavola_test.processes import run_program
from tavola_test.security_case import FORGED, OK, result
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

FIRST, SECOND = "1f" * 32, "2e" * 32
BAD_SETTING = 2


class WrappedKeys(unittest.TestCase):
    def setUp(self):
        self.stack = Stack(redis=False)
        self.addCleanup(self.stack.close)
        self.file = os.path.join(self.stack.folder, "wrapping")

    def operate(self, *words, code=0, **settings):
        done = run_program("tavola", *words, settings={"TAVOLA_POSTGRES": self.stack.postgres, **settings})
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout.strip() if code == 0 else done.stderr

    def new_account(self, name, **settings):
        return key_of(self.operate("account", "create", name, **settings).splitlines()[0].split()[-1])

    def write_file(self, *keys):
        with open(self.file, "w", encoding="ascii") as file:
            file.write("\n".join(keys) + "\n")
        return {"TAVOLA_WRAPPING_KEY_FILE": self.file}

    def start(self, **settings):
        self.stack.new_target()
        self.stack.start_server(TAVOLA_AUTHENTICATION="required", **settings)

    def serves(self, key, account="acme"):
        with self.stack.connect(token=token(key, account=account)) as caller:
            return result(caller.list_tables)

    def stored(self):
        """Every row of the table, as a backup has it."""
        return bytes.fromhex(self.stack.sql("select string_agg(encode(first_key || second_key, 'hex'), '') from accounts"))

    def refused(self, want, **settings):
        """A server with these settings ends by itself; what it says."""
        self.stack.new_target()
        server = self.stack.start_server(wait=False, TAVOLA_AUTHENTICATION="required", **settings)
        self.assertEqual(wait_for("the end", lambda: server.process.poll() is not None and (server.process.returncode,)), (BAD_SETTING,))
        self.assertIn(want, server.output())
        return server.output()

    def test_keys_are_wrapped_rotated_and_unwrapped_without_a_gap(self):
        key = self.new_account("acme")
        self.assertIn(key, self.stored(), "in clear a backup has the key")

        with_first = self.write_file(FIRST)
        self.start(**with_first)
        self.assertEqual(self.serves(key), OK, "a key in clear opens beside wrapped ones")
        self.assertIn("1 accounts", self.operate("account", "rewrap", **with_first))
        self.assertNotIn(key, self.stored())
        self.assertEqual(self.serves(key), OK)
        other = self.new_account("other", **with_first)
        self.assertNotIn(other, self.stored())
        self.assertEqual(self.serves(other, "other"), OK)

        with_both = self.write_file(SECOND, FIRST)
        self.start(**with_both)
        self.assertEqual(self.serves(key), OK)
        self.assertIn("2 accounts", self.operate("account", "rewrap", **with_both))
        self.assertIn("0 accounts", self.operate("account", "rewrap", **with_both))
        self.start(TAVOLA_WRAPPING_KEY=SECOND)
        self.assertEqual(self.serves(key), OK)

        rotated = key_of(self.operate("account", "rotate-key", "acme", TAVOLA_WRAPPING_KEY=SECOND).split()[-1])
        self.assertEqual((self.serves(rotated), self.serves(key)), (OK, OK))
        self.assertIn("2 accounts", self.operate("account", "rewrap", "--clear", TAVOLA_WRAPPING_KEY=SECOND))
        self.assertIn(key, self.stored())
        self.start()
        self.assertEqual((self.serves(rotated), self.serves(key), self.serves(os.urandom(32))), (OK, OK, FORGED))

    def test_a_server_without_the_wrapping_key_does_not_start(self):
        self.new_account("acme", TAVOLA_WRAPPING_KEY=FIRST)
        for settings in ({}, {"TAVOLA_WRAPPING_KEY": SECOND}):
            said = self.refused("the keys of account acme are wrapped with the wrapping key", **settings)
            self.assertEqual(log_lines.of(said, "cannot_start")[0]["setting"], "TAVOLA_WRAPPING_KEY")

    def test_a_lost_wrapping_key_costs_the_account_its_keys_alone(self):
        lost = self.new_account("acme", TAVOLA_WRAPPING_KEY=FIRST)
        for _ in range(2):
            key = key_of(self.operate("account", "rotate-key", "acme", TAVOLA_WRAPPING_KEY=SECOND).split()[-1])
        self.start(TAVOLA_WRAPPING_KEY=SECOND)
        self.assertEqual((self.serves(key), self.serves(lost)), (OK, FORGED))

    def test_settings_that_are_no_wrapping_keys_are_refused(self):
        self.refused("TAVOLA_WRAPPING_KEY: a wrapping key is 64 hexadecimal digits", TAVOLA_WRAPPING_KEY="secret")
        self.refused("TAVOLA_WRAPPING_KEY_FILE: /none", TAVOLA_WRAPPING_KEY_FILE="/none")
        self.refused("unset one of them", TAVOLA_WRAPPING_KEY=FIRST, **self.write_file(FIRST))
        self.assertIn("--clear", self.operate("account", "rewrap", code=BAD_SETTING))
        self.new_account("acme", TAVOLA_WRAPPING_KEY=FIRST)
        self.assertIn("do not have", self.operate("account", "rewrap", code=BAD_SETTING, TAVOLA_WRAPPING_KEY=SECOND))
