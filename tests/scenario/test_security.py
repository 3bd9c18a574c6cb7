# SPDX-License-Identifier: Apache-2.0
"""What tokens open, and what every forged, expired, widened, replayed or truncated one gets; test_signatures.py has what
good signatures open.

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

from tavola_test import client, credentials, log_lines
from tavola_test.client import ApiError
from tavola_test.credentials import encode, key_of, sas, sas_fields, sign, ticks, token
from tavola_test.processes import run_program
from tavola_test.security_case import ABSENT, ANONYMOUS, FORGED, OK, WRONG_ADDRESS, SecurityCase, address, result
from tavola_test.settings import BIN
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for


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
        """The fields of a signature that is accepted, with the signature text of one that is refused."""
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

    def test_methods_without_authentication(self):
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
            ("--expiry takes", ("--expiry", "2099-02-30")),
            ("--expiry takes", ("--expiry", "2099-01-01T12:00:61Z")),
            ("--start takes", ("--expiry", "+60", "--start", "2025-02-29")),
            ("the range ends before it starts", ("--expiry", "+60", "--start-partition", "b", "--end-partition", "a")),
        ):
            refused = run_program("tavola", "sas", "create", "acme", "People", "--permissions", "r", *fields,
                                  settings={"TAVOLA_ACCOUNT_KEY": key})
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn(wrong, refused.stderr)

    def test_bounds_that_no_key_can_be_are_refused_by_name(self):
        for field in (("--start-partition", "a/b"), ("--start-partition", "a", "--start-row", "b?"),
                      ("--end-partition", "a\x7f"), ("--end-partition", "a", "--end-row", "x" * 513)):
            refused = run_program("tavola", "sas", "create", "acme", "People", "--permissions", "r", "--expiry", "+60",
                                  *field, settings={"TAVOLA_ACCOUNT_KEY": "tvk1." + encode(self.keys[0])})
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), field)
            self.assertIn("start" if "start" in field[-2] else "end", refused.stderr)
            self.assertIn("RowKey" if "row" in field[-2] else "PartitionKey", refused.stderr)

    def test_a_token_stays_at_home_without_tls(self):
        """Only an address of the loopback is one, not a name that looks alike."""
        for target in ("127.example.org:50051", "127.0.0.1.example.org:50051", "127.1:50051"):
            refused = run_program("tavola", "--target", target, "queue", "list", settings={"TAVOLA_TOKEN": "tvt1.x"})
            self.assertIn("is not sent to", refused.stderr, target)

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
        """All bytes that the command line sends, while it knows key and token."""
        key, given = self.keys[0], token(self.keys[0])
        with socket.create_server(("127.0.0.1", 0)) as listener:
            seen = []
            listening = threading.Thread(target=lambda: seen.append(self.record(listener.accept()[0])))
            listening.start()
            settings = {"TAVOLA_TOKEN": given, "TAVOLA_ACCOUNT_KEY": "tvk1." + encode(key)}
            target = f"127.0.0.1:{listener.getsockname()[1]}"
            run_program("tavola", "--target", target, "dead-letter", "list", settings=settings)
            listening.join()
        self.assertIn(given.encode(), seen[0])
        for secret in (key, encode(key).encode(), key.hex().encode()):
            self.assertNotIn(secret, seen[0])

    @staticmethod
    def record(connection):
        """Answer the first frames of HTTP/2, so that the client sends its call, and close the connection a little
        later.
        """
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

    def test_a_new_account_works_at_once(self):
        for i in range(4):
            key = self.new_account(f"unary{i}")[0]
            self.assertEqual(result(self.connect(token(key, account=f"unary{i}")).list_tables), OK)

    def test_a_new_account_streams_at_once(self):
        none = ("NOT_FOUND", "TABLE_NOT_FOUND")
        for i in range(2):
            key = self.new_account(f"scans{i}")[0]
            scan = self.connect(token(key, account=f"scans{i}")).scan_entities
            self.assertEqual(result(lambda: list(scan([client.types.message("tavola.v1.ScanEntitiesRequest")(query={"table": "People"})]))), none)
            key = self.new_account(f"imports{i}")[0]
            load = self.connect(token(key, account=f"imports{i}")).import_entities
            chunk = client.ImportEntitiesRequest(table="People", entities=[client.entity("a", "1")])
            self.assertEqual(result(lambda: list(load([chunk]))), none)

    def test_a_flood_of_unknown_accounts_is_refused(self):
        """Many more calls than may wait; some are abandoned. A known caller notices nothing, and a new caller is let
        in.
        """
        request = client.types.message("tavola.v1.ListTablesRequest")().SerializeToString()
        path = "/tavola.v1.TableService/ListTables"
        stranger = self.connect(token(os.urandom(32), account="nobody"))
        calls = [stranger.start(path, request) for _ in range(2000)]
        gone = [stranger.start(path, request) for _ in range(100)]
        stream = stranger.channel.stream_stream("/tavola.v1.EntityService/ImportEntities")
        gone += [stream(iter([client.ImportEntitiesRequest(table="People").SerializeToString()])) for _ in range(100)]
        for call in gone:
            call.cancel()
        self.assertEqual(result(self.client.list_tables), OK)
        answers = {call.exception().code().name for call in calls}
        self.assertEqual(answers, {"UNAUTHENTICATED"})
        key = self.new_account("amidst")[0]
        self.assertEqual(result(self.connect(token(key, account="amidst")).list_tables), OK)

    def test_keys_are_rotated_without_a_gap(self):
        first, second = self.new_account("rotating")
        made = {name: token(key, account="rotating") for name, key in (("first", first), ("second", second))}
        tables = {name: self.connect(given).list_tables for name, given in made.items()}
        self.assertEqual(result(tables["first"]), OK)
        self.assertEqual(result(tables["second"]), OK)

        third = key_of(self.operate("account", "rotate-key", "rotating").split()[-1])
        newest = self.connect(token(third, account="rotating")).list_tables
        self.assertEqual(result(newest), OK, "a new key works at once")
        self.assertEqual(result(tables["first"]), OK, "the old first key is the second one now")
        self.assertEqual(result(tables["second"]), FORGED, "the second key has died")

        self.operate("account", "rotate-key", "rotating")
        wait_for("the end of the first key", lambda: result(tables["first"]) == FORGED)
        self.assertEqual(result(newest), OK)

    def test_a_deleted_account_opens_nothing(self):
        keys = self.new_account("leaving")
        tables = self.connect(token(keys[0], account="leaving")).list_tables
        self.assertEqual(result(tables), OK)
        self.operate("account", "delete", "leaving")
        wait_for("its end", lambda: result(tables) == FORGED)
        stays = run_program("tavola", "account", "delete", "acme", settings={"TAVOLA_POSTGRES": self.stack.postgres})
        self.assertEqual((stays.returncode, "or has tables or blobs: delete these first" in stays.stderr), (1, True))

    def test_an_account_made_anew_sees_nothing_of_the_one_before(self):
        put = {"table": "Kept", "entity": client.entity("a", "1", {"Secret": "of the first owner"})}
        insert = {"table": "Kept", "entity": client.entity("a", "2"), "request_id": "r1"}
        owners = []
        for owner in range(2):
            key = self.new_account("anew")[0]
            made = self.connect(token(key, account="anew"))
            made.create_table(name="Kept")
            owners.append(made)
            if owner == 0:
                made.submit_transaction(transaction_id="t1", steps=[{"insert_or_replace": put}])
                made.insert_entity(**insert)
                made.delete_table(name="Kept")
                self.assertEqual([t.transaction_id for t in made.list_transactions().transactions], ["t1"])
                self.assertEqual(len(made.list_operations().operations), 1)
                self.operate("account", "delete", "anew")
        first, second = owners
        unknown = ("NOT_FOUND", "TRANSACTION_NOT_FOUND")
        by_key = {"table": "Kept", "key": address("a", "1")}
        self.check(
            [
                ("the old key", result(first.list_tables), FORGED),
                ("transactions", list(second.list_transactions().transactions), []),
                ("by key", list(second.list_transactions(entity=by_key).transactions), []),
                ("one of them", result(second.get_transaction, transaction_id="t1"), unknown),
                ("to cancel it", result(second.cancel_transaction, transaction_id="t1"), unknown),
                ("operations", list(second.list_operations().operations), []),
                ("the request id is free", result(second.insert_entity, **insert), OK),
                ("the transaction id is free", result(second.submit_transaction, transaction_id="t1",
                    steps=[{"delete_if_exists": by_key}]), OK),
                ("tables", [table.name for table in second.list_tables().tables], ["Kept"]),
            ]
        )

    def test_administrators_name_accounts(self):
        ops = self.connect(token(self.new_account("ops", "--administrator")[0], account="ops"))
        self.connect(token(self.new_account("inbox")[0], account="inbox")).create_table(name="Inbox")
        put = {"table": "Inbox", "entity": client.entity("a", "1"), "account": "inbox"}
        own = {"table": "Inbox", "entity": client.entity("a", "1"), "account": "ops"}
        steps = [{"insert_or_replace": put}]
        ops.submit_transaction(transaction_id="t1", steps=steps)
        ops.submit_transaction(transaction_id="t1", steps=steps)
        seen = ops.get_transaction(transaction_id="t1").transaction
        self.assertEqual(seen.steps[0].insert_or_replace.account, "inbox")
        by_key = {"table": "Inbox", "key": address("a", "1"), "account": "inbox"}
        self.assertEqual([t.transaction_id for t in ops.list_transactions(entity=by_key).transactions], ["t1"])
        missing = ("NOT_FOUND", "TABLE_NOT_FOUND")
        self.assertEqual(result(ops.submit_transaction, transaction_id="t2", steps=[{"insert_or_replace": own}]), missing)
        self.assertEqual(list(ops.list_hot_partitions(account="inbox", table="Inbox").partitions), [])
        self.assertEqual(result(ops.list_hot_partitions, account="nobody", table="Inbox"), missing)

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


class Revocation(SecurityCase):
    """A policy is removed at one server; a second later another server refuses it."""

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
        """When it answered with OK, by the test's clock."""
        calls = log_lines.of(server.output(), "call", status="OK")
        times = [call["time"].removesuffix("Z") for call in calls if call["method"].endswith("/" + method)]
        return [datetime.datetime.fromisoformat(moment) for moment in times]

    def test_at_once_also_for_a_stream_that_has_begun(self):
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
        print(f"the last call under the policy {(last - revoked).total_seconds():.3f} s after its end", flush=True)
        with self.assertRaises(ApiError) as caught:
            for reply in scan:
                seen += len(reply.entities)
        self.assertEqual((caught.exception.code, caught.exception.reason), FORGED)
        self.assertLess(seen, self.PAGES * self.PER_PAGE)


class Addresses(unittest.TestCase):
    """A server on a TCP port of its own: callers have an address there."""

    def test_a_signature_may_be_used_where_it_says(self):
        stack = Stack()
        self.addCleanup(stack.close)
        environment = {"TAVOLA_POSTGRES": stack.postgres}
        printed = run_program("tavola", "account", "create", "acme", settings=environment).stdout
        key = key_of(printed.splitlines()[0].split()[-1])
        server = stack.start_server(wait=False, TAVOLA_AUTHENTICATION="required", TAVOLA_LISTEN="127.0.0.1:0")
        target = wait_for("the port", stack.listens_on)

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


if __name__ == "__main__":
    unittest.main()
