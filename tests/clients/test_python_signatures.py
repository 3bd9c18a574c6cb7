# SPDX-License-Identifier: Apache-2.0
"""Credentials of the Python client: the vectors that all clients share, and when a client makes a new one."""

import datetime as dt
import json
import os
import unittest

from tavola_test.settings import SOURCE

from tavola import Account, Signature
from tavola.credentials import Renewing, lifetime_of
from tavola.values import EPOCH

with open(os.path.join(SOURCE, "tests/vectors/signatures.json"), encoding="utf-8") as file:
    VECTORS = json.load(file)
FIELDS = ("table", "permissions", "policy", "source", "protocol", "start_partition", "start_row", "end_partition", "end_row")


def when(milliseconds):
    return EPOCH + dt.timedelta(milliseconds=milliseconds)


def make(vector):
    """The text of a vector's credential."""
    account = Account(vector["account"], vector["key"])
    if vector["kind"] == "token":
        return account.token((vector["expiry"] - vector["issued"]) / 1000, issued=when(vector["issued"]))
    fields = {name: vector[name] for name in FIELDS if name in vector}
    times = {name: when(vector[name]) for name in ("start", "expiry") if name in vector}
    return account.sign(Signature(**fields, **times), issued=when(vector["issued"]))


class Vectors(unittest.TestCase):
    def test_credentials(self):
        self.assertGreater(len(VECTORS["credentials"]), 20)
        for vector in VECTORS["credentials"]:
            with self.subTest(vector["name"]):
                self.assertEqual(make(vector), vector["text"])

    def test_what_no_server_accepts_is_refused(self):
        self.assertGreater(len(VECTORS["refused"]), 10)
        for vector in VECTORS["refused"]:
            with self.subTest(vector["name"]), self.assertRaises(ValueError):
                make(vector)

    def test_the_lifetime_is_read_from_the_text(self):
        for vector in VECTORS["credentials"]:
            with self.subTest(vector["name"]):
                want = (vector["issued"] / 1000, vector["expiry"] / 1000) if "expiry" in vector else None
                self.assertEqual(lifetime_of(vector["text"]), want)

    def test_a_key_is_never_printed(self):
        account = Account("acme", VECTORS["credentials"][0]["key"])
        self.assertEqual(repr(account), "Account('acme', key=...)")


class Renewal(unittest.TestCase):
    def test_a_token_is_made_anew_when_a_third_of_its_life_is_left(self):
        made = []
        account = Account("acme", VECTORS["credentials"][0]["key"])

        def token_of(age, lifetime):
            def make_one():
                made.append(account.token(lifetime, issued=dt.datetime.now(dt.timezone.utc) - dt.timedelta(seconds=age)))
                return made[-1]
            return make_one

        for age, calls in ((500, 1), (700, 2)):
            with self.subTest(age=age):
                made.clear()
                credential = Renewing(token_of(age, 900))
                credential.text()
                credential.text()
                self.assertEqual(len(made), calls)


if __name__ == "__main__":
    unittest.main()
