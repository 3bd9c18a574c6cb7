# SPDX-License-Identifier: Apache-2.0
"""Encryption by the Python client: the vectors that all clients share, what cannot be opened, a table of the service, rotation."""

import base64
import datetime as dt
import json
import math
import os
import subprocess
import tempfile
import unittest
import unittest.mock
import uuid

from tavola_test.settings import SOURCE
from tavola_test.stack import Stack

import tavola
from tavola.encryption import DecryptionError, Encryption, KeyCommand, KeyRing

with open(os.path.join(SOURCE, "tests/vectors/encryption.json"), encoding="utf-8") as file:
    VECTORS = json.load(file)
NATIVE = {
    "int32": tavola.Int32, "int64": int, "double": float, "guid": uuid.UUID, "binary": bytes.fromhex,
    "datetime": lambda text: dt.datetime.fromisoformat(text.replace("Z", "+00:00")),
}
# A program as KeyCommand calls it; it "wraps" by reversing the bytes.
PROGRAM = """
import base64, sys
data = base64.b64decode(sys.stdin.read())[::-1]
if sys.argv[1:] not in (["wrap"], ["unwrap", "hsm7"]):
    sys.exit(3)
print(*["hsm7"] * (sys.argv[1] == "wrap"), base64.b64encode(data).decode())
"""


def native(vector):
    return NATIVE.get(vector["type"], lambda value: value)(vector["value"])


def ring(text=VECTORS["keys"]):
    with tempfile.NamedTemporaryFile("w", suffix=".keys") as keys:
        keys.write(text)
        keys.flush()
        return KeyRing.from_file(keys.name)


def new_ring(*key_ids):
    """Keys that depend on their ids alone."""
    return KeyRing({key_id: key_id.encode().ljust(32, b".") for key_id in key_ids})


class Format(unittest.TestCase):
    def setUp(self):
        self.encryption = Encryption(ring(), VECTORS["account"], {}, blind={"people": {}},
                                     blind_key=base64.b64decode(VECTORS["blind_key"]))

    def test_values_of_every_client_are_read(self):
        self.assertEqual({vector["made_by"] for vector in VECTORS["values"]}, {"python", "node", "c"})
        for vector in VECTORS["values"]:
            with self.subTest(vector["made_by"], value=vector["value"]):
                found = self.encryption.open(base64.b64decode(vector["stored"]), *vector["where"])
                self.assertEqual((type(found), found), (type(native(vector)), native(vector)))

    def test_digests(self):
        for vector in VECTORS["digests"]:
            with self.subTest(vector["value"]):
                self.assertEqual(self.encryption.blind(vector["table"], vector["property"], native(vector)), vector["digest"])

    def test_a_value_opens_only_where_it_was_written(self):
        where = ["people", "sales", "0001", "Email"]
        stored = self.encryption.seal("ada@sales.example", *where)
        for place in range(4):
            elsewhere = list(where)
            elsewhere[place] += "x"
            with self.subTest(elsewhere), self.assertRaisesRegex(DecryptionError, "written for another"):
                self.encryption.open(stored, *elsewhere)
        with self.assertRaisesRegex(DecryptionError, "written for another account"):
            Encryption(ring(), "other", {}).open(stored, *where)
        self.assertEqual(self.encryption.open(stored, "PEOPLE", *where[1:]), "ada@sales.example")

    def test_a_changed_or_cut_value_is_refused(self):
        where = ("people", "sales", "0001", "Email")
        stored = self.encryption.seal("ada@sales.example", *where)
        for at in range(len(stored)):
            with self.subTest(at), self.assertRaises(DecryptionError):
                self.encryption.open(stored[:at] + bytes([stored[at] ^ 1]) + stored[at + 1:], *where)
            with self.subTest(at), self.assertRaises(DecryptionError):
                self.encryption.open(stored[:at], *where)
        with self.assertRaisesRegex(DecryptionError, "not an encrypted value"):
            self.encryption.open("plain", *where)

    def test_a_missing_key_is_named(self):
        stored = Encryption(new_ring("lost"), "acme", {}).seal(1, "t", "p", "r", "N")
        with self.assertRaisesRegex(DecryptionError, "encrypted with key lost, which is not there"):
            self.encryption.open(stored, "t", "p", "r", "N")

    def test_key_files_that_are_wrong_are_refused_by_line(self):
        for text, why in (("a\n", "line 1: not a key id"), ("# c\n\na !!\n", "line 3"), ("a QUJD\n", "key a has 3 bytes, not 32"),
                          ("", "needs a key"), (f"{'a' * 65} {'A' * 43}=\n", "1 to 64 characters")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, why):
                ring(text)

    def test_a_program_wraps_content_keys(self):
        command = KeyCommand("/usr/bin/python3", "-c", PROGRAM)
        stored = Encryption(command, "acme", {}).seal("x", "t", "p", "r", "N")
        self.assertIn(b"\x04hsm7", stored)
        self.assertEqual(Encryption(command, "acme", {}).open(stored, "t", "p", "r", "N"), "x")
        with self.assertRaises(OSError):
            Encryption(KeyCommand("/no/such/program"), "acme", {}).seal("x", "t", "p", "r", "N")

    def test_a_device_wraps_content_keys(self):
        # SoftHSM is a PKCS#11 device made of files.
        with tempfile.TemporaryDirectory() as folder:
            settings = os.path.join(folder, "softhsm.conf")
            with open(settings, "w", encoding="ascii") as file:
                file.write(f"directories.tokendir = {folder}\nobjectstore.backend = file\n")
            device = {"SOFTHSM2_CONF": settings, "PKCS11_LIBRARY": "/usr/lib/softhsm/libsofthsm2.so", "PKCS11_TOKEN": "tavola",
                      "PKCS11_PIN": "1234", "PKCS11_KEY": "2026-11"}
            self.enterContext(unittest.mock.patch.dict(os.environ, device))
            subprocess.run(["softhsm2-util", "--init-token", "--free", "--label", "tavola", "--so-pin", "0000", "--pin", "1234"],
                           check=True, capture_output=True)
            program = ("/usr/bin/python3", os.path.join(SOURCE, "examples", "pkcs11_keys.py"))
            subprocess.run([*program, "make", "2026-11"], check=True)
            command = KeyCommand(*program)
            stored = Encryption(command, "acme", {}).seal("x", "t", "p", "r", "N")
            self.assertIn(b"\x072026-11", stored)
            self.assertEqual(Encryption(command, "acme", {}).open(stored, "t", "p", "r", "N"), "x")
            _, wrapped = command.wrap(bytes(32))
            for key_id, data in (("lost", wrapped), ("2026-11", wrapped[:-1]), ("2026-11", bytes([wrapped[0] ^ 1]) + wrapped[1:])):
                with self.subTest(key_id), self.assertRaises(subprocess.CalledProcessError):
                    command.unwrap(key_id, data)


class Service(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = Stack()
        cls.addClassCleanup(cls.stack.close)
        cls.stack.start_server()
        cls.stack.start_worker()
        cls.client = tavola.Client(cls.stack.target)
        cls.addClassCleanup(cls.client.close)

    def setUp(self):
        self.name = "t" + uuid.uuid4().hex[:20]
        self.stored = self.client.create_table(self.name)
        self.encryption = self.with_keys(new_ring("k1"))
        self.table = self.encryption.table(self.client, self.name)

    def with_keys(self, keys, **options):
        return Encryption(keys, "default", {self.name: ["Email", "Salary"]}, blind={self.name: {"Email": "EmailDigest"}},
                          blind_key=b"b" * 32, **options)

    def put(self, row, **properties):
        return self.table.upsert({"PartitionKey": "sales", "RowKey": row, **properties})

    def test_the_service_sees_no_value(self):
        self.put("1", Email="ada@sales.example", Salary=tavola.Int32(5000), Name="Ada")
        stored = self.stored.get("sales", "1")
        self.assertEqual(stored["Name"], "Ada")
        self.assertNotIn(b"ada@sales.example", stored["Email"])
        self.assertEqual({type(stored["Email"]), type(stored["Salary"])}, {bytes})
        self.assertEqual(dict(self.table.get("sales", "1")), {"PartitionKey": "sales", "RowKey": "1", "Name": "Ada",
                                                              "Email": "ada@sales.example", "Salary": 5000})

    def test_a_merge_leaves_the_other_values_readable(self):
        self.put("1", Email="ada@sales.example", Salary=1)
        later = self.with_keys(new_ring("k2", "k1")).table(self.client, self.name)
        later.merge({"PartitionKey": "sales", "RowKey": "1", "Salary": 2})
        self.assertEqual(later.get("sales", "1")["Email"], "ada@sales.example")
        self.assertEqual(later.get("sales", "1")["Salary"], 2)

    def test_equal_values_are_found_through_an_index(self):
        by_email = self.table.create_index("i" + uuid.uuid4().hex[:20], "EmailDigest").wait()
        written = self.put("1", Email="ada@sales.example")
        self.put("2", Email="grace@sales.example")
        digest = self.encryption.blind(self.name, "Email", "ada@sales.example")
        index = self.table.index(by_email.name)
        found = list(index.lookup(digest, at_least=[written]))
        self.assertEqual([(one.key, one["Email"]) for one in found], [(("sales", "1"), "ada@sales.example")])

    def test_a_value_that_was_moved_by_hand_is_refused(self):
        self.put("1", Email="ada@sales.example")
        taken = self.stored.get("sales", "1")
        self.stored.insert({**taken, "RowKey": "2"})
        with self.assertRaises(DecryptionError):
            self.table.get("sales", "2")
        with self.assertRaises(DecryptionError):
            list(self.table.query())

    def test_rotation_goes_on_behind_its_token(self):
        self.table.load({"PartitionKey": "sales", "RowKey": f"{number:04}", "Email": f"{number}@sales.example", "Ratio": math.pi}
                        for number in range(1500))
        self.stored.upsert({"PartitionKey": "sales", "RowKey": "plain", "Email": "plain@sales.example"})
        later = self.with_keys(new_ring("k2", "k1"), allow_plain=True)
        rewritten, token = next(later.rotate(self.client, self.name))
        self.assertEqual(rewritten, 1000)
        self.assertEqual([count for count, _ in later.rotate(self.client, self.name, token)], [501])
        self.assertEqual(sum(count for count, _ in later.rotate(self.client, self.name)), 0)
        only_new = self.with_keys(new_ring("k2")).table(self.client, self.name)
        self.assertEqual(len({entity["Email"] for entity in only_new.query()}), 1501)
        plain = self.stored.get("sales", "plain")
        self.assertEqual(plain["EmailDigest"], later.blind(self.name, "Email", "plain@sales.example"))

    def test_rotation_leaves_what_was_written_meanwhile(self):
        self.put("1", Email="old@sales.example")
        later = self.with_keys(new_ring("k2", "k1"))
        entity = self.stored.get("sales", "1")
        self.put("1", Email="new@sales.example")
        self.assertFalse(later._rewrite(self.stored, entity))
        self.assertEqual(self.table.get("sales", "1")["Email"], "new@sales.example")


if __name__ == "__main__":
    unittest.main()
