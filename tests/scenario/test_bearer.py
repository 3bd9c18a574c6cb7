# SPDX-License-Identifier: Apache-2.0
"""Bearer tokens of other parties: which are taken, and that one token opens the same at all three doors."""

import os
import shutil
import tempfile
import time
import unittest

from tavola_test import client
from tavola_test.azure import Door
from tavola_test.client import match
from tavola_test.credentials import encode
from tavola_test.credentials import token as own_token
from tavola_test.http_client import Caller
from tavola_test.ports import free_port
from tavola_test.processes import run_program
from tavola_test.security_case import FORGED, MISMATCH, OK, REFUSED, SecurityCase, address, result
from tavola_test.waiting import wait_for
from tavola_test.web_tokens import AUDIENCE, ISSUER, EcKey, RsaKey, SecretKey, claims_of, join, web_token, write_keys

GET = "EntityService/GetEntity"
KEY = "/People(PartitionKey='a',RowKey='1')"
HOUR = 3600


class Bearer(SecurityCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.rsa, cls.ec, cls.secret = RsaKey(cls.folder, "r1"), EcKey(cls.folder, "e1"), SecretKey("h1")
        cls.key_file = os.path.join(cls.folder, "keys.json")
        write_keys(cls.key_file, cls.rsa, cls.ec, cls.secret)
        cls.port = free_port()
        cls.settings = {"TAVOLA_HTTP_LISTEN": f"127.0.0.1:{cls.port}", "TAVOLA_JWT_KEYS": cls.key_file,
                        "TAVOLA_JWT_ISSUER": ISSUER, "TAVOLA_JWT_AUDIENCE": AUDIENCE}
        super().setUpClass()
        wait_for("the door", lambda: cls.stack.accepts(f"127.0.0.1:{cls.port}"))

    def rest(self, token, method="GET", path=KEY, body=None, **headers):
        return Door(self.port).send(method, path, body, Authorization="Bearer " + token, **headers)

    def at_each_door(self, token):
        """What a Get of an entity comes to over gRPC, as JSON and over REST."""
        caller = Caller(("127.0.0.1", self.port))
        reply = caller.call(GET, {"table": "People", "key": {"partitionKey": "a", "rowKey": "1"}}, {"Authorization": "Bearer " + token})
        caller.close()
        return self.read(token), reply.status, self.rest(token).status

    def test_each_algorithm_opens_each_door(self):
        for key in (self.rsa, self.ec, self.secret):
            with self.subTest(key.algorithm):
                self.assertEqual(self.at_each_door(web_token(key)), (OK, 200, 200))

    def test_every_way_to_fail(self):
        now = int(time.time())
        rsa, ec, secret = self.rsa, self.ec, self.secret
        good = web_token(rsa)
        public = SecretKey("r1", rsa.pem())
        cases = {
            "expired": web_token(rsa, exp=now - 1),
            "without an expiry": web_token(rsa, exp=None),
            "for longer than a day": web_token(rsa, exp=now + 25 * HOUR),
            "an expiry in words": web_token(rsa, exp=str(now + 600)),
            "not before two minutes": web_token(rsa, nbf=now + 120),
            "issued in two minutes": web_token(rsa, iat=now + 120),
            "another issuer": web_token(rsa, iss="https://evil.example"),
            "no issuer": web_token(rsa, iss=None),
            "another audience": web_token(rsa, aud="https://other.example"),
            "no audience": web_token(rsa, aud=None),
            "among other audiences": web_token(rsa, aud=["a", "b"]),
            "no account": web_token(rsa, tavola_account=None),
            "an account that is none": web_token(rsa, tavola_account="nobody"),
            "no permissions": web_token(rsa, tavola_permissions=None),
            "unknown permissions": web_token(rsa, tavola_permissions="rx"),
            "everything of one table": web_token(rsa, tavola_table="People"),
            "a partition of no table": web_token(rsa, tavola_partition="a"),
            "a table as a list": web_token(rsa, tavola_table=["People"], tavola_permissions="r"),
            "an unknown key": web_token(RsaKey(self.folder, "r9")),
            "another key under a known id": web_token(RsaKey(self.folder, "r8"), header={"kid": "r1"}),
            "the public key as a secret": web_token(public, header={"alg": "HS256"}),
            "the public key as a secret, without an id": web_token(public, header={"alg": "HS256", "kid": None}),
            "another algorithm of the same key": web_token(rsa, header={"alg": "RS512"}),
            "the algorithm of another key": web_token(rsa, header={"kid": "e1"}),
            "none": join({"alg": "none", "typ": "JWT"}, claims_of(), lambda _: b"x"),
            "none, without a signature": join({"alg": "none"}, claims_of(), lambda _: b""),
            "none in capitals": join({"alg": "NONE", "kid": "r1"}, claims_of(), lambda _: b"x"),
            "an extension that must be understood": web_token(rsa, header={"crit": ["exp"], "exp": 1}),
            "a key of its own": web_token(secret, header={"kid": None, "jwk": SecretKey("x").public(), "alg": "none"}),
            "changed claims": ".".join([good.split(".")[0], encode(b'{"tavola_account":"globex"}'), good.split(".")[2]]),
            "a signature of another token": ".".join(good.split(".")[:2] + [web_token(rsa, sub="x").split(".")[2]]),
            "cut short": good[:-8],
            "a fourth part": good + ".e30",
            "no signature": ".".join(good.split(".")[:2]) + ".",
            "a claim twice": join({"alg": "HS256", "kid": "h1"}, {}, lambda _: b"").split(".")[0] + "." + encode(b'{"exp":1,"exp":2}') + ".eA",
        }
        for name, token in cases.items():
            with self.subTest(name):
                self.assertEqual(self.at_each_door(token), (FORGED, 401, 403), name)
        self.assertEqual(self.at_each_door(good), (OK, 200, 200))
        self.assertEqual(self.at_each_door(web_token(ec, nbf=now + 30, aud=["x", AUDIENCE])), (OK, 200, 200))

    def test_permissions_are_those_of_signatures(self):
        reader = self.connect(web_token(self.ec, tavola_permissions="r"))
        table = self.connect(web_token(self.ec, tavola_table="PEOPLE", tavola_permissions="rd", tavola_partition="b"))
        whole = self.connect(web_token(self.ec))
        entity = client.entity("q", "1")
        self.check([
            ("all tables: read", result(reader.get_entity, table="Other", key=address("a", "1")), OK),
            ("all tables: write", result(reader.insert_entity, table="Other", entity=entity), MISMATCH),
            ("all tables: delete one", result(reader.delete_table, name="Other"), MISMATCH),
            ("one table: read", result(table.get_entity, table="People", key=address("b", "1")), OK),
            ("one table: another partition", result(table.delete_entity, table="People", key=address("c", "1"), precondition=match()), REFUSED),
            ("one table: write", result(table.insert_entity, table="People", entity=client.entity("b", "9")), MISMATCH),
            ("one table: another table", result(table.get_entity, table="Other", key=address("a", "1")), REFUSED),
            ("the account: tables", result(whole.list_tables), OK),
            ("the account: administration", result(whole.list_dead_letters), REFUSED),
        ])
        entities = [entity.partition_key for entity in table.query_entities(query={"table": "People"}).entities]
        self.assertEqual(entities, ["b"] * 3)

    def test_an_administrators_account_administers_by_its_own_keys_only(self):
        key = self.new_account("ops", "--administrator")[0]
        self.assertEqual(result(self.connect(own_token(key, account="ops")).list_dead_letters), OK)
        self.assertEqual(result(self.connect(web_token(self.rsa, tavola_account="ops")).list_dead_letters), REFUSED)

    def test_the_account_is_that_of_the_url(self):
        self.assertEqual(self.rest(web_token(self.rsa, tavola_account="globex")).status, 403)

    def test_rest_lists_and_makes_tables(self):
        token = web_token(self.rsa, tavola_permissions="rlc")
        self.assertEqual(self.rest(token, "POST", "/Tables", {"TableName": "ByBearer"}).status, 201)
        self.assertIn("ByBearer", self.rest(token, path="/Tables").text)
        self.assertEqual(self.rest(token, "DELETE", "/Tables('ByBearer')").status, 403)

    def test_keys_are_replaced_while_the_server_runs(self):
        fresh = EcKey(self.folder, "e2")
        old = web_token(self.secret)
        self.assertEqual(self.read(old), OK)
        self.assertEqual(self.read(web_token(fresh)), FORGED)
        write_keys(self.key_file, self.rsa, self.ec, fresh)
        self.addCleanup(self.replace_keys, self.rsa, self.ec, self.secret)
        wait_for("the new key", lambda: self.read(web_token(fresh)) == OK)
        self.assertEqual(self.read(old), FORGED)

    def replace_keys(self, *keys):
        write_keys(self.key_file, *keys)
        wait_for("the keys", lambda: all(self.read(web_token(key)) == OK for key in keys))

    def test_a_file_that_cannot_be_used_leaves_the_keys(self):
        with open(self.key_file, "w", encoding="utf-8") as file:
            file.write('{"keys": [')
        self.addCleanup(self.replace_keys, self.rsa, self.ec, self.secret)
        wait_for("the warning", lambda: "jwt_keys_kept" in self.stack.logs())
        self.assertEqual(self.read(web_token(self.rsa)), OK)


class Settings(unittest.TestCase):
    def refuse(self, **settings):
        done = run_program("tavolad", settings={"TAVOLA_POSTGRES": "host=/nowhere", "TAVOLA_REDIS": "redis://127.0.0.1:1", **settings})
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_settings_that_contradict_each_other(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "keys")
            write_keys(path, SecretKey("a"))
            both = {"TAVOLA_JWT_ISSUER": "i", "TAVOLA_JWT_AUDIENCE": "a"}
            for name, text, settings in (
                ("no issuer", "needs TAVOLA_JWT_ISSUER", {"TAVOLA_JWT_KEYS": path, "TAVOLA_JWT_AUDIENCE": "a"}),
                ("no keys", "TAVOLA_JWT_KEYS is not", both),
                ("no such file", "No such file", {"TAVOLA_JWT_KEYS": path + "x", **both}),
                ("unchecked beyond loopback", "loopback", {"TAVOLA_JWT_SIGNATURES": "unchecked", "TAVOLA_LISTEN": "0.0.0.0:0"}),
                ("unchecked with keys", "set one of them", {"TAVOLA_JWT_SIGNATURES": "unchecked", "TAVOLA_JWT_KEYS": path}),
            ):
                with self.subTest(name):
                    self.assertIn(text, self.refuse(**settings))

    def test_sets_that_cannot_be_used(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "keys")
            good = SecretKey("a").public()
            point = EcKey(folder, "e").public()
            for name, text, keys in (
                ("empty", "no key for HS256", []),
                ("a short secret", "32 bytes or more", [{**good, "k": "c2hvcnQ"}]),
                ("an id twice", "another key has the id a", [good, good]),
                ("a point beside the curve", "P-256 with x and y", [{**point, "x": point["y"]}]),
                ("other algorithms only", "no key for HS256", [{**good, "alg": "HS512"}, {**good, "use": "enc"}]),
            ):
                with self.subTest(name):
                    write_keys(path, *keys)
                    settings = {"TAVOLA_JWT_KEYS": path, "TAVOLA_JWT_ISSUER": "i", "TAVOLA_JWT_AUDIENCE": "a"}
                    self.assertIn(text, self.refuse(**settings))


class Unchecked(SecurityCase):
    settings = {"TAVOLA_JWT_SIGNATURES": "unchecked", "TAVOLA_JWT_AUDIENCE": AUDIENCE}

    def test_only_the_claims_count(self):
        unsigned = join({"alg": "none"}, claims_of(), lambda _: b"x")
        self.check([
            ("not signed", self.read(unsigned), OK),
            ("expired", self.read(web_token(SecretKey("x"), exp=1)), FORGED),
            ("another audience", self.read(web_token(SecretKey("x"), aud="y")), FORGED),
            ("another issuer", self.read(web_token(SecretKey("x"), iss="y")), OK),
        ])
