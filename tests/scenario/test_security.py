"""What each kind of token opens, and what every other token gets.

Every list below reads: what is tried, and what it got. Tokens are made by credentials.py, not by the product,
but for those of `tavola token create` and `tavola sas create`.
"""

import datetime
import hashlib
import os
import re
import socket
import threading
import time
import unittest

import client
import credentials
from case import ServerCase
from client import ApiError, match
from credentials import encode, key_of, sas, sas_fields, sign, ticks, token
from stack import BIN, PATIENCE, Stack, run_program, wait_for

OK = ("OK", None)
ABSENT = ("NOT_FOUND", "RESOURCE_NOT_FOUND")
ANONYMOUS = ("UNAUTHENTICATED", "NO_AUTHENTICATION_INFORMATION")
FORGED = ("UNAUTHENTICATED", "AUTHENTICATION_FAILED")
REFUSED = ("PERMISSION_DENIED", "AUTHORIZATION_FAILURE")
MISMATCH = ("PERMISSION_DENIED", "AUTHORIZATION_PERMISSION_MISMATCH")
WRONG_PROTOCOL = ("PERMISSION_DENIED", "AUTHORIZATION_PROTOCOL_MISMATCH")
WRONG_ADDRESS = ("PERMISSION_DENIED", "AUTHORIZATION_SOURCE_IP_MISMATCH")


def address(partition, row):
    return {"partition_key": partition, "row_key": row}


def result(function, *arguments, **fields):
    """("OK", None), or the code and the reason."""
    try:
        function(*arguments, **fields)
        return OK
    except ApiError as error:
        return error.code, error.reason


class SecurityCase(ServerCase):
    """A server that requires tokens; accounts acme and globex; a table People of acme with some entities."""

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack()
        cls.addClassCleanup(cls.stack.close)
        cls.keys = cls.new_account("acme")
        cls.other_keys = cls.new_account("globex")
        cls.stack.start_server(TAVOLA_AUTHENTICATION="required", TAVOLA_LOG_LEVEL="debug")
        cls.client = cls.connect(token(cls.keys[0]))
        cls.client.create_table(name="People")
        for partition in "abcde":
            for row in "123":
                cls.client.insert_entity(table="People", entity=client.entity(partition, row, {"N": 1}))
        cls.client.create_table(name="Other")
        cls.client.insert_entity(table="Other", entity=client.entity("a", "1"))
        # The server learns of accounts and tables twice a second.
        wait_for("the table's age", lambda: result(cls.step, cls.connect(sas(cls.keys[0], "people", permissions="dt"))) == OK)

    @staticmethod
    def step(connection):
        connection.submit_transaction(
            transaction_id=f"t{time.time_ns()}",
            steps=[{"delete_if_exists": {"table": "People", "key": address("zz", "zz")}}],
        )

    @classmethod
    def operate(cls, *words, **settings):
        done = run_program("tavola", *words, settings={"TAVOLA_POSTGRES": cls.stack.postgres, **settings})
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout.strip()

    @classmethod
    def new_account(cls, name, *more):
        """Its two keys."""
        printed = cls.operate("account", "create", name, *more)
        return [key_of(line.split()[-1]) for line in printed.splitlines()]

    @classmethod
    def connect(cls, given):
        connection = client.Client(cls.stack.target, token=given)
        cls.addClassCleanup(connection.channel.close)
        return connection

    def read(self, given, table="People", partition="a", row="1"):
        return result(self.connect(given).get_entity, table=table, key=address(partition, row))

    def check(self, cases):
        for name, got, want in cases:
            with self.subTest(name):
                self.assertEqual(got, want)


class Tokens(SecurityCase):
    def test_what_opens(self):
        first, second = self.keys
        self.check(
            [
                ("signed with the first key", self.read(token(first)), OK),
                ("signed with the second key", self.read(token(second)), OK),
                ("used again", [self.read(token(first, expiry=500)) for _ in range(2)], [OK, OK]),
                ("a signature with r", self.read(sas(first, "people", permissions="r")), OK),
                ("of the second key", self.read(sas(second, "people", permissions="r")), OK),
                ("the table named in other case", self.read(sas(first, "people"), table="pEOPLE"), OK),
                ("issued by a clock 30 s ahead", self.read(token(first, issued=30)), OK),
                ("starts in 30 s", self.read(sas(first, "people", start=30)), OK),
            ]
        )

    def test_forged(self):
        key = self.keys[0]
        good = sas(key, "people", permissions="r")
        wide = sas_fields("people", permissions="raud")
        narrow = sas_fields("people", permissions="r")
        raw = credentials.decode(good[5:])
        body, signature = raw[:-32], raw[-32:]
        flipped = bytes([signature[0] ^ 1]) + signature[1:]
        whole = token(key)
        self.check(
            [
                ("no token at all", self.read_without(), ANONYMOUS),
                ("an empty token", self.read(""), FORGED),
                ("words", self.read("please"), FORGED),
                ("the key itself", self.read("tvk1." + encode(key)), FORGED),
                ("signed with no key of ours", self.read(token(os.urandom(32))), FORGED),
                ("signed with an empty key", self.read(token(b"")), FORGED),
                ("signed with a key of zeros, by nobody", self.read(token(bytes(32), account="nobody")), FORGED),
                ("of an account that is not there", self.read(token(key, account="nobody")), FORGED),
                ("of another account", self.read(token(key, account="globex")), FORGED),
                ("one bit of the signature", self.read("tvs1." + encode(body + flipped)), FORGED),
                ("no signature", self.read("tvs1." + encode(body)), FORGED),
                ("a signature of zeros", self.read("tvs1." + encode(body + bytes(32))), FORGED),
                ("half a signature", self.read("tvs1." + encode(body + signature[:16])), FORGED),
                ("widened: r made raud", self.read("tvs1." + encode(wide + signature)), FORGED),
                ("widened: the range left out", self.widened(low=("c", "")), FORGED),
                ("widened: the address left out", self.widened(source=("192.0.2.1", "192.0.2.1")), FORGED),
                ("widened: the protocol left out", self.widened(tls_only=True), FORGED),
                ("widened: a later expiry", self.widened(expiry=-60), FORGED),
                ("widened: another table", self.widened(table="other"), FORGED),
                ("widened: the policy left out", self.widened(policy="gone"), FORGED),
                ("fields behind the last", self.read(sign("tvs1.", narrow + b"\0", key)), FORGED),
                ("fields cut short", self.read(sign("tvs1.", narrow[:-1], key)), FORGED),
                ("an unknown field", self.read(sign("tvs1.", self.with_unknown_field(), key)), FORGED),
                ("a table in capitals", self.read(sas(key, "People")), FORGED),
                ("a token's text behind it", self.read(good + good), FORGED),
                ("padding", self.read(good + "="), FORGED),
                ("SHA-1", self.read(sign("tvs1.", narrow, key, hashlib.sha1)), FORGED),
                ("SHA-512", self.read(sign("tvs1.", narrow, key, hashlib.sha512)), FORGED),
                ("a hash without a key", self.read("tvs1." + encode(narrow + hashlib.sha256(b"tvs1." + narrow).digest())), FORGED),
                ("a JWT of algorithm none", self.read(self.jwt({"alg": "none"}, b"")), FORGED),
                ("a signature with a token's prefix", self.read("tvt1." + good[5:]), FORGED),
                ("a token with a signature's prefix", self.read("tvs1." + whole[5:]), FORGED),
                ("another version's prefix", self.read("tvs2." + good[5:]), FORGED),
                ("a prefix in capitals", self.read("TVS1." + good[5:]), FORGED),
                ("no prefix", self.read(good[5:]), FORGED),
                ("another scheme", self.read_with("authorization", "Basic " + good), FORGED),
                ("in another header", self.read_with("x-authorization", "Bearer " + good), ANONYMOUS),
                ("longer than any token", self.read("tvs1." + "A" * 7000), FORGED),
            ]
        )

    def widened(self, table="people", **fields):
        """The fields of a signature that opens, with the signature of one that does not."""
        genuine = credentials.decode(sas(self.keys[0], table, **fields)[5:])
        return self.read("tvs1." + encode(sas_fields("people") + genuine[-32:]))

    def with_unknown_field(self):
        head = credentials.text("acme") + credentials.text("people") + client.varint(ticks(0))
        return head + client.varint(2 | 4 | 512) + client.varint(ticks(60)) + client.varint(1) + b"\1"

    @staticmethod
    def jwt(header, signature):
        import json

        parts = [json.dumps(header).encode(), json.dumps({"sub": "acme"}).encode(), signature]
        return ".".join(encode(part) for part in parts)

    def read_without(self):
        with client.Client(self.stack.target) as connection:
            return result(connection.get_entity, table="People", key=address("a", "1"))

    def read_with(self, name, value):
        request = client.types.message("tavola.v1.GetEntityRequest")(table="People", key=address("a", "1"))
        with client.Client(self.stack.target) as connection:
            rpc = connection.channel.unary_unary("/tavola.v1.EntityService/GetEntity")
            try:
                rpc(request.SerializeToString(), timeout=20, metadata=[(name, value)])
                return OK
            except client.grpc.RpcError as error:
                found = ApiError(error)
                return found.code, found.reason

    def test_every_cut_and_every_changed_byte(self):
        good = sas(self.keys[0], "people", low=("a", ""), high=("b",))
        self.assertEqual(self.read(good), OK)
        for i in range(len(good)):
            changed = good[:i] + ("B" if good[i] == "A" else "A") + good[i + 1 :]
            self.assertIn(self.read_quickly(good[:i]), (FORGED,), f"cut to {i}")
            self.assertIn(self.read_quickly(changed), (FORGED,), f"changed at {i}")

    def read_quickly(self, given):
        with client.Client(self.stack.target, token=given) as connection:
            return result(connection.get_entity, table="People", key=address("a", "1"))

    def test_times(self):
        key = self.keys[0]
        self.check(
            [
                ("an expired token", self.read(token(key, issued=-20, expiry=-1)), FORGED),
                ("an expired signature", self.read(sas(key, "people", expiry=-1)), FORGED),
                ("issued in five minutes", self.read(token(key, issued=300)), FORGED),
                ("starts in five minutes", self.read(sas(key, "people", start=300)), FORGED),
                ("a token for two days", self.read(token(key, expiry=2 * 86400)), FORGED),
                ("a signature for a year", self.read(sas(key, "people", expiry=365 * 86400)), OK),
                ("ends before it starts", self.read(sas(key, "people", start=50, expiry=40)), FORGED),
                ("without an expiry", self.read(sas(key, "people", expiry=None)), FORGED),
                ("without permissions", self.read(sas(key, "people", permissions="")), FORGED),
            ]
        )

    def test_a_replayed_token_is_good_until_it_expires(self):
        given = token(self.keys[0], expiry=2)
        connection = self.connect(given)
        self.assertEqual(result(connection.list_tables), OK)
        wait_for("the expiry", lambda: result(connection.list_tables) == FORGED)
        self.assertEqual(self.read(given), FORGED)

    def test_the_answer_never_says_what_was_wrong(self):
        key = self.keys[0]
        answers = set()
        for given in ("x", token(os.urandom(32)), token(key, account="nobody"), token(key, expiry=-1, issued=-9),
                      sas(key, "people", policy="gone")):
            with self.assertRaises(ApiError) as caught:
                self.connect(given).list_tables()
            answers.add((caught.exception.message, tuple(caught.exception.metadata)))
        self.assertEqual(len(answers), 1)

    def test_what_asks_nobody(self):
        with client.Client(self.stack.target) as connection:
            self.assertEqual(connection.health(), "SERVING")
            self.assertEqual(len(list(connection.reflect("v1", [{"list_services": ""}]))), 1)

    def test_tokens_of_the_command_line(self):
        key = "tvk1." + encode(self.keys[0])
        whole = self.operate("token", "create", "acme", TAVOLA_ACCOUNT_KEY=key)
        self.assertEqual(self.read(whole), OK)
        one = self.operate("sas", "create", "acme", "People", "--permissions", "r", "--expiry", "+60",
                           "--start-partition", "b", TAVOLA_ACCOUNT_KEY=key)
        self.assertEqual(self.read(one, partition="b"), OK)
        self.assertEqual(self.read(one), ABSENT)
        short = run_program("tavola", "token", "create", "acme", "90000", settings={"TAVOLA_ACCOUNT_KEY": key})
        self.assertEqual(short.returncode, 2)
        self.assertIn("24 hours", short.stderr)
        for wrong, fields in (
            ("the expiry has passed", ("--expiry", "2020-01-01")),
            ("the range ends before it starts", ("--expiry", "+60", "--start-partition", "b", "--end-partition", "a")),
        ):
            refused = run_program("tavola", "sas", "create", "acme", "People", "--permissions", "r", *fields,
                                  settings={"TAVOLA_ACCOUNT_KEY": key})
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn(wrong, refused.stderr)

    def explain(self, text, **settings):
        shown = run_program("tavola", "sas", "explain", settings=settings, text=text + "\n")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return dict(re.split(r" {2,}", line, maxsplit=1) for line in shown.stdout.splitlines())

    def test_what_explain_says(self):
        mine, other = ("tvk1." + encode(key) for key in (self.keys[0], self.other_keys[0]))
        one = self.operate("sas", "create", "acme", "People", "--permissions", "ru", "--start", "2026-01-31T12:00Z",
                           "--expiry", "2099-12-31", "--source", "10.0.0.1-10.0.0.9", "--protocol", "tls",
                           "--start-partition", "a", "--end-partition", "b", "--end-row", "x", TAVOLA_ACCOUNT_KEY=mine)
        said = self.explain(one)
        issued = said.pop("issued")
        self.assertRegex(issued, r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(said, {
            "kind": "shared access signature", "account": "acme", "table": "people", "permissions": "ru",
            "start": "2026-01-31T12:00:00Z", "expiry": "2099-12-31T00:00:00Z", "source": "10.0.0.1-10.0.0.9",
            "protocol": "tls", "start partition": "a", "start row": "", "end partition": "b", "end row": "x"})
        self.assertEqual(self.explain(one, TAVOLA_ACCOUNT_KEY=mine)["signed"], "with the key of TAVOLA_ACCOUNT_KEY")
        self.assertEqual(self.explain(one, TAVOLA_ACCOUNT_KEY=other)["signed"], "not with the key of TAVOLA_ACCOUNT_KEY")
        self.assertEqual(self.explain(token(self.keys[0]))["kind"], "token of the whole account")
        self.assertEqual(run_program("tavola", "sas", "explain", text="tvs1.AAAA\n").returncode, 1)

    def test_a_key_never_travels(self):
        """Everything the command line sends, while it knows key and token."""
        key, given = self.keys[0], token(self.keys[0])
        with socket.create_server(("127.0.0.1", 0)) as listener:
            seen = []
            listening = threading.Thread(target=lambda: seen.append(self.record(listener.accept()[0])))
            listening.start()
            settings = {"TAVOLA_TOKEN": given, "TAVOLA_ACCOUNT_KEY": "tvk1." + encode(key)}
            target = f"127.0.0.1:{listener.getsockname()[1]}"
            run_program("tavola", "--target", target, "dead-letters", "list", settings=settings)
            listening.join()
        self.assertIn(given.encode(), seen[0])
        for secret in (key, encode(key).encode(), key.hex().encode()):
            self.assertNotIn(secret, seen[0])

    @staticmethod
    def record(connection):
        """Answer HTTP/2's first frames, so that the call is made, and hang up a little later."""
        connection.settimeout(1)
        connection.sendall(b"\0\0\0\4\0\0\0\0\0" + b"\0\0\0\4\1\0\0\0\0")
        out = b""
        with connection:
            try:
                while part := connection.recv(65536):
                    out += part
            except TimeoutError:
                pass
        return out


class Accounts(SecurityCase):
    def test_another_account(self):
        theirs = token(self.other_keys[0], account="globex")
        connection = self.connect(theirs)
        put = {"table": "People", "entity": client.entity("a", "1"), "account": "acme"}
        self.assertEqual(list(connection.list_tables().tables), [])
        missing = ("NOT_FOUND", "TABLE_NOT_FOUND")
        self.check(
            [
                ("reads its own table of that name", self.read(theirs), missing),
                ("by a signature for that table", self.read(sas(self.other_keys[0], "people", account="globex")), missing),
                ("deletes it", result(connection.delete_table, name="People"), ABSENT),
                ("writes", result(connection.insert_entity, table="People", entity=client.entity("x", "1")), missing),
            ]
        )
        code, _ = result(connection.submit_transaction, transaction_id="theft", steps=[{"insert_or_replace": put}])
        self.assertIn(code, ("PERMISSION_DENIED", "UNIMPLEMENTED"))

    def test_keys_are_rotated_without_a_gap(self):
        first, second = self.new_account("rotating")
        made = {name: token(key, account="rotating") for name, key in (("first", first), ("second", second))}
        tables = {name: self.connect(given).list_tables for name, given in made.items()}
        wait_for("the new account", lambda: result(tables["first"]) == OK)
        self.assertEqual(result(tables["second"]), OK)

        third = key_of(self.operate("account", "rotate", "rotating").split()[-1])
        newest = self.connect(token(third, account="rotating")).list_tables
        began = time.monotonic()
        wait_for("the new key", lambda: result(newest) == OK)
        self.assertLess(time.monotonic() - began, 1.5)
        self.assertEqual(result(tables["first"]), OK, "the old first key is the second one now")
        self.assertEqual(result(tables["second"]), FORGED, "the second key has died")

        self.operate("account", "rotate", "rotating")
        wait_for("the end of the first key", lambda: result(tables["first"]) == FORGED)
        self.assertEqual(result(newest), OK)

    def test_a_deleted_account_opens_nothing(self):
        keys = self.new_account("leaving")
        tables = self.connect(token(keys[0], account="leaving")).list_tables
        wait_for("the new account", lambda: result(tables) == OK)
        self.operate("account", "delete", "leaving")
        wait_for("its end", lambda: result(tables) == FORGED)
        stays = run_program("tavola", "account", "delete", "acme", settings={"TAVOLA_POSTGRES": self.stack.postgres})
        self.assertEqual((stays.returncode, "or has tables: delete these first" in stays.stderr), (1, True))

    def test_nothing_secret_is_logged(self):
        keys = self.new_account("quiet")
        given = [token(keys[0], account="quiet"), sas(keys[1], "people", account="quiet"), token(keys[0])]
        for one in given:
            self.read(one)
        listed = self.operate("account", "list")
        logs = self.stack.server.output() + listed
        self.assertIn("quiet", listed)
        for key in keys + self.keys:
            given += [encode(key), key.hex()]
        for secret in given:
            self.assertNotIn(secret, logs)
            self.assertNotIn(secret[5:], logs)
        self.assertIn("reason=AUTHENTICATION_FAILED", logs)


class Signatures(SecurityCase):
    def sas(self, permissions="raud", **fields):
        return self.connect(sas(self.keys[0], "people", permissions=permissions, **fields))

    def test_permissions(self):
        entity = client.entity("w", "1")
        writes = {
            "insert": ("a", lambda c: c.insert_entity(table="People", entity=client.entity("w", str(time.time_ns())))),
            "replace": ("u", lambda c: c.replace_entity(table="People", entity=entity, precondition=match())),
            "merge": ("u", lambda c: c.merge_entity(table="People", entity=entity, precondition=match())),
            "insert or replace": ("au", lambda c: c.insert_or_replace_entity(table="People", entity=entity)),
            "insert or merge": ("au", lambda c: c.insert_or_merge_entity(table="People", entity=entity)),
            "delete": ("d", lambda c: c.delete_entity(table="People", key=address("w", "1"), precondition=match())),
            "get": ("r", lambda c: c.get_entity(table="People", key=address("a", "1"))),
            "query": ("r", lambda c: c.query_entities(query={"table": "People"})),
            "count": ("r", lambda c: c.count_entities(query={"table": "People"})),
            "submit": ("ut", lambda c: None),
        }
        del writes["submit"]
        for name, (needed, run) in writes.items():
            self.client.insert_or_replace_entity(table="People", entity=entity)
            with self.subTest(f"{name} with {needed}"):
                self.assertEqual(result(run, self.sas(needed)), OK)
            for letter in needed:
                rest = "raudit".replace(letter, "")
                with self.subTest(f"{name} with {rest}"):
                    self.assertEqual(result(run, self.sas(rest)), MISMATCH)

    def test_what_no_signature_opens(self):
        connection = self.sas("raudit")
        self.check(
            [
                ("another table", self.read(sas(self.keys[0], "people"), table="Other"), REFUSED),
                ("a table that is not there", self.read(sas(self.keys[0], "people"), table="Nothing"), REFUSED),
                ("create a table", result(connection.create_table, name="New"), REFUSED),
                ("create its own table", result(connection.create_table, name="People"), REFUSED),
                ("get its table", result(connection.get_table, name="People"), REFUSED),
                ("list tables", result(connection.list_tables), REFUSED),
                ("delete its table", result(connection.delete_table, name="People"), REFUSED),
                ("list indexes", result(connection.list_indexes), REFUSED),
                ("drop an index", result(connection.drop_index, name="ByN"), REFUSED),
                ("look up another index", result(connection.lookup_index, index="ByN"), REFUSED),
                ("list operations", result(connection.list_operations), REFUSED),
                ("list transactions", result(connection.list_transactions), REFUSED),
                ("see a transaction", result(connection.get_transaction, transaction_id="x"), REFUSED),
            ]
        )
        self.assertEqual(self.read(token(self.keys[0])), OK)

    def test_the_edges_of_a_range(self):
        """From b/2 to d/2, both of them included."""
        connection = self.sas("raud", low=("b", "2"), high=("d", "2"))
        inside = {("b", "2"), ("b", "3"), ("c", "1"), ("c", "2"), ("c", "3"), ("d", "1"), ("d", "2")}
        for partition in "abcde":
            for row in "123":
                want = OK if (partition, row) in inside else ABSENT
                with self.subTest(f"get {partition}/{row}"):
                    self.assertEqual(result(connection.get_entity, table="People", key=address(partition, row)), want)
        for partition, row, want in (("b", "1z", REFUSED), ("b", "20", OK), ("d", "1z", OK), ("d", "20", REFUSED),
                                     ("bb", "", OK), ("", "", REFUSED), ("e", "", REFUSED)):
            with self.subTest(f"write {partition}/{row}"):
                entity = client.entity(partition, row)
                self.assertEqual(result(connection.insert_or_replace_entity, table="People", entity=entity), want)
                if want == OK:
                    self.client.delete_entity(table="People", key=address(partition, row), precondition=match())
        found = connection.query_entities(query={"table": "People"}).entities
        self.assertEqual({(e.partition_key, e.row_key) for e in found}, inside)

    def keys_of(self, connection, **query):
        out, page = [], ""
        while True:
            reply = connection.query_entities(query={"table": "People", **query}, page_size=2, page_token=page)
            out += [(e.partition_key + e.row_key) for e in reply.entities]
            page = reply.next_page_token
            if not page:
                return out

    def test_queries_see_the_range_only(self):
        everything = self.keys_of(self.client)
        for low, high in ((("b", "2"), ("d", "2")), (("b", ""), ("d",)), (("c", "2"), ("c", "2")), (("x", ""), None),
                          (None, ("b", "1")), (("c", "3"), None), (("d", ""), ("b",))):
            connection = self.sas("r", low=low, high=high)
            lowest = "".join(low) if low else ""
            highest = "".join(high) if high and len(high) > 1 else (high[0] + "~" if high else "~")
            want = [key for key in everything if lowest <= key <= highest]
            for query in ({}, {"filter": "N ge 0"}, {"filter": "PartitionKey ge 'b'"}, {"filter": "PartitionKey eq 'c'"},
                          {"filter": "(PartitionKey eq 'b' and RowKey eq '1') or (PartitionKey eq 'd' and RowKey eq '2')"},
                          {"descending": True}):
                with self.subTest(low=low, high=high, **query):
                    expected = [key for key in self.keys_of(self.client, **query) if key in want]
                    self.assertEqual(self.keys_of(connection, **query), expected)
                    counted = connection.count_entities(query={"table": "People", **query}).count if not query.get("descending") else len(expected)
                    self.assertEqual(counted, len(expected))
                    request = client.types.message("tavola.v1.ScanEntitiesRequest")(query={"table": "People", **query})
                    scanned = [e.partition_key + e.row_key for reply in connection.scan_entities([request]) for e in reply.entities]
                    self.assertEqual(scanned, expected)

    def test_batches_of_reads_and_writes(self):
        connection = self.sas("rau", low=("b", ""), high=("b",))
        reply = connection.batch_get_entities(table="People", keys=[address("a", "1"), address("b", "1")])
        self.assertEqual([r.WhichOneof("outcome") for r in reply.results], ["error", "entity"])
        self.assertEqual(reply.results[0].error.reason, "RESOURCE_NOT_FOUND")
        batch = [{"insert_or_replace": client.entity("b", "1", {"N": 1})}, {"delete": address("b", "2"), "precondition": match()}]
        with self.assertRaises(ApiError) as caught:
            connection.execute_batch(table="People", operations=batch)
        self.assertEqual(caught.exception.reason, MISMATCH[1])
        self.assertEqual(caught.exception.metadata["operation_index"], "1")

    def test_imports(self):
        connection = self.sas("au", low=("i", ""), high=("i",))
        entities = [client.entity("h", "1"), client.entity("i", "1"), client.entity("j", "1")]
        replies = list(connection.import_entities([client.ImportEntitiesRequest(table="People", entities=entities)]))
        self.assertEqual(replies[-1].committed, 1)
        self.assertEqual([(r.position, r.error.reason) for r in replies[0].rejected], [(0, REFUSED[1]), (2, REFUSED[1])])
        for given, table, want in ((self.sas("a"), "People", MISMATCH), (self.sas("au"), "Other", REFUSED),
                                   (self.connect("x"), "People", FORGED)):
            request = client.ImportEntitiesRequest(table=table, entities=[client.entity("i", "2")])
            got = result(lambda c=given, r=request: self.first_rejection(c, r))
            self.assertEqual(got, want)
        self.client.delete_entity(table="People", key=address("i", "1"), precondition=match())

    @staticmethod
    def first_rejection(connection, request):
        """Whole streams fail by status, single entities by their error."""
        for reply in connection.import_entities([request]):
            for rejected in reply.rejected:
                raised = ApiError.__new__(ApiError)
                raised.code, raised.reason = {7: "PERMISSION_DENIED"}[rejected.error.code], rejected.error.reason
                raise raised

    def test_transactions_step_by_step(self):
        def move(source, destination, table="People"):
            return {"move": {"source": {"table": "People", "key": address(*source)},
                             "destination": {"table": table, "key": address(*destination)}}}

        def submit(connection, *steps):
            return result(connection.submit_transaction, transaction_id=f"s{time.time_ns()}", steps=list(steps))

        narrow = {"low": ("t", ""), "high": ("t",)}
        self.check(
            [
                ("inside", submit(self.sas("raudt", **narrow), move(("t", "1"), ("t", "2"))), OK),
                ("without t", submit(self.sas("raud", **narrow), move(("t", "1"), ("t", "2"))), MISMATCH),
                ("without d", submit(self.sas("raut", **narrow), move(("t", "1"), ("t", "2"))), MISMATCH),
                ("from outside", submit(self.sas("raudt", **narrow), move(("a", "1"), ("t", "2"))), REFUSED),
                ("to outside", submit(self.sas("raudt", **narrow), move(("t", "1"), ("a", "2"))), REFUSED),
                ("to another table", submit(self.sas("raudt", **narrow), move(("t", "1"), ("t", "2"), "Other")), REFUSED),
                ("the second step", submit(self.sas("raudt", **narrow), move(("t", "1"), ("t", "2")), move(("a", "1"), ("t", "2"))), REFUSED),
            ]
        )

    def test_addresses(self):
        # The server listens on a socket: callers have no address there, and no range holds them.
        self.assertEqual(self.read(sas(self.keys[0], "people", source=("127.0.0.1", "127.0.0.1"))), WRONG_ADDRESS)

    def test_what_is_for_tls_only_opens_nothing_in_plain_text(self):
        self.assertEqual(self.read(sas(self.keys[0], "people", tls_only=True)), WRONG_PROTOCOL)

    def test_a_signature_does_not_open_the_next_table_of_that_name(self):
        self.client.create_table(name="Reborn")
        # As if it had been made some time before the table, for the one before.
        old = sas(self.keys[0], "reborn", issued=-120)
        self.assertEqual(self.read(old, table="Reborn"), REFUSED)
        self.assertEqual(self.read(sas(self.keys[0], "reborn"), table="Reborn"), ABSENT)

    def test_policies(self):
        key = self.keys[0]
        name = "Policed"
        self.client.create_table(name=name)
        self.client.insert_entity(table=name, entity=client.entity("a", "1"))

        def set_policies(*policies):
            self.client.update_table(table={"name": name, "policies": policies}, update_mask={"paths": ["policies"]})

        def late(seconds):
            return {"seconds": int(time.time()) + seconds}

        by_policy = sas(key, "policed", policy="readers", permissions="", expiry=None)
        with_own = sas(key, "policed", policy="readers")
        self.assertEqual(self.read(by_policy, name), FORGED)

        set_policies({"id": "readers", "expiry": late(600), "permissions": "r"})
        wait_for("the policy", lambda: self.read(by_policy, name) == OK)
        self.assertEqual(self.read(with_own, name), FORGED, "the policy and the signature set the same")
        insert = {"table": name, "entity": client.entity("b", "1")}
        self.assertEqual(result(self.connect(by_policy).insert_entity, **insert), MISMATCH)
        got = self.client.get_table(name=name).table.policies
        self.assertEqual([(p.id, p.permissions, p.HasField("start")) for p in got], [("readers", "r", False)])

        set_policies({"id": "readers", "expiry": late(600), "permissions": "a"})
        wait_for("the changed policy", lambda: self.read(by_policy, name) == MISMATCH)
        set_policies({"id": "readers", "expiry": late(-1), "permissions": "r"})
        wait_for("the expired policy", lambda: self.read(by_policy, name) == FORGED)
        set_policies({"id": "readers", "expiry": late(600), "permissions": "r"})
        wait_for("the policy again", lambda: self.read(by_policy, name) == OK)
        set_policies()
        wait_for("the end of the policy", lambda: self.read(by_policy, name) == FORGED)

        for wrong in ([{"id": f"p{i}"} for i in range(6)], [{"id": "x"}, {"id": "x"}], [{"id": ""}],
                      [{"id": "x" * 65}], [{"id": "x", "permissions": "ru x"}],
                      [{"id": "x", "start": late(9), "expiry": late(3)}]):
            with self.subTest(policies=wrong):
                with self.assertRaises(ApiError) as caught:
                    set_policies(*wrong)
                self.assertEqual(caught.exception.reason, "INVALID_INPUT")
        set_policies(*({"id": f"p{i}"} for i in range(5)))


class Revocation(SecurityCase):
    """A policy is taken back at one server; another one opens nothing for it a second later."""

    PAGES, PER_PAGE = 8, 3

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        other = "unix:" + os.path.join(cls.stack.folder, "other")
        settings = cls.stack.server_settings(TAVOLA_LISTEN=other, TAVOLA_AUTHENTICATION="required", TAVOLA_LOG_LEVEL="debug")
        cls.other = cls.stack.start("other", [os.path.join(BIN, "tavolad")], settings)
        policy = {"id": "readers", "expiry": {"seconds": int(time.time()) + 600}, "permissions": "r"}
        cls.set_policies(policy)
        given = sas(cls.keys[0], "people", policy="readers", permissions="", expiry=None)
        cls.reader = client.Client(other, token=given)
        cls.addClassCleanup(cls.reader.channel.close)
        wait_for("the policy", lambda: cls.get() == OK)

    @classmethod
    def set_policies(cls, *policies):
        cls.client.update_table(table={"name": "People", "policies": policies}, update_mask={"paths": ["policies"]})

    @classmethod
    def get(cls):
        return result(cls.reader.get_entity, table="People", key=address("a", "1"))

    @staticmethod
    def moments(server, method):
        """When it answered with OK, by its own clock."""
        found = re.findall(rf"^(\S+)Z .* method=\S+/{method} status=OK", server.output(), re.M)
        return [datetime.datetime.fromisoformat(moment) for moment in found]

    def test_within_a_second_also_for_a_stream_that_has_begun(self):
        blob = {f"B{i}": os.urandom(65536) for i in range(15)}
        for page in range(self.PAGES):
            rows = [client.entity("z", f"{page}{row}", blob) for row in range(self.PER_PAGE)]
            self.client.load("People", rows)
        request = client.types.message("tavola.v1.ScanEntitiesRequest")
        scan = self.reader.scan_entities([request(query={"table": "People", "filter": "PartitionKey eq 'z'"})])
        seen = len(next(scan).entities)

        self.set_policies()
        wait_for("the end of the policy", lambda: self.get() == FORGED)

        revoked = self.moments(self.stack.server, "UpdateTable")[-1]
        last = self.moments(self.other, "GetEntity")[-1]
        self.assertLess((last - revoked).total_seconds(), 1 * PATIENCE)
        with self.assertRaises(ApiError) as caught:
            for reply in scan:
                seen += len(reply.entities)
        self.assertEqual((caught.exception.code, caught.exception.reason), FORGED)
        self.assertLess(seen, self.PAGES * self.PER_PAGE)


class Addresses(unittest.TestCase):
    """A server on a port of its own: there callers have an address."""

    def test_a_signature_may_be_used_where_it_says(self):
        stack = Stack()
        self.addCleanup(stack.close)
        environment = {"TAVOLA_POSTGRES": stack.postgres}
        printed = run_program("tavola", "account", "create", "acme", settings=environment).stdout
        key = key_of(printed.splitlines()[0].split()[-1])
        server = stack.start_server(wait=False, TAVOLA_AUTHENTICATION="required", TAVOLA_LISTEN="127.0.0.1:0")
        target = wait_for("the port", lambda: [l.split()[-1] for l in server.output().splitlines() if l.startswith("listening")])[0]

        def read(**fields):
            with client.Client(target, token=sas(key, "people", permissions="r", **fields)) as connection:
                return result(connection.get_entity, table="People", key=address("a", "1"))

        with client.Client(target, token=token(key)) as connection:
            wait_for("the server", lambda: result(connection.list_tables) == OK)
            connection.create_table(name="People")
        here, missing = "127.0.0.1", ABSENT
        for source, want in (((here, here), missing), (("127.0.0.0", "127.0.0.9"), missing),
                             (("::ffff:127.0.0.1", "::ffff:127.0.0.1"), missing), (("127.0.0.2", "127.0.0.9"), WRONG_ADDRESS),
                             (("10.0.0.1", "10.0.0.1"), WRONG_ADDRESS), (("::1", "::1"), WRONG_ADDRESS)):
            with self.subTest(source=source):
                self.assertEqual(read(source=source), want)

    def test_without_authentication_only_this_machine_is_served(self):
        good = {"TAVOLA_POSTGRES": "host=/x", "TAVOLA_REDIS": "unix:/x"}
        for listen in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0"):
            refused = run_program("tavolad", settings={**good, "TAVOLA_LISTEN": listen, "TAVOLA_AUTHENTICATION": "none"})
            self.assertEqual(refused.returncode, 2)
            self.assertIn("TAVOLA_AUTHENTICATION=none only loopback", refused.stderr)
        shown = run_program("tavolad", "--print-config", settings=good)
        self.assertIn("TAVOLA_AUTHENTICATION=required", shown.stdout)
