# SPDX-License-Identifier: Apache-2.0
"""The permission matrix: every method that reflection shows, with every kind of credential, every set of permissions
and every kind of range. What must come out is the table in tavola_test/permissions.py. A refused call changes nothing:
the rows of the database are compared before and after.
"""

import concurrent.futures
import itertools
import unittest

from tavola_test import client, servers
from tavola_test.client import ApiError, types
from tavola_test.credentials import PERMISSIONS, sas, token
from tavola_test.permissions import ADMINISTRATOR, NO_TRANSACTION, ONLY_OWN, RULES, TOKEN, method_of
from tavola_test.security_case import ANONYMOUS, FORGED, OK, REFUSED, SecurityCase
from tavola_test.stack import wait_ready
from tavola_test.waiting import wait_for

# The entity is b/2. Each with: is there a range, and is the entity in it?
RANGES = {
    "no range": ({}, False, True),
    "its partition": ({"low": ("b", ""), "high": ("b",)}, True, True),
    "its row": ({"low": ("b", "2"), "high": ("b", "2~")}, True, True),
    "another partition": ({"low": ("x", ""), "high": ("x",)}, True, False),
    "another row": ({"low": ("b", "5"), "high": ("b", "7")}, True, False),
}
SETS = ["".join(letters) for size in range(len(PERMISSIONS) + 1) for letters in itertools.combinations(PERMISSIONS, size)]
# One of each manner of dealing with a range, with the full product of sets and ranges; the other methods are sampled.
IN_FULL = ("EntityService/GetEntity", "EntityService/InsertEntity", "EntityService/QueryEntities", "IndexService/LookupIndex",
           "TransactionService/SubmitTransaction")
REFLECTED = {"list_services": ""}
# Written by the server and its sweeps themselves, for every caller.
ITS_OWN = ("samples", "commits", "leases", "watermarks", "schema_migrations", "audit_records")


def listed_methods(caller):
    """{"Service/Method"} of Tavola, as reflection tells."""
    services = caller.reflect("v1", [REFLECTED])[0].list_services_response.service
    found = set()
    for service in services:
        if not service.name.startswith("tavola.v1."):
            continue
        reply = caller.reflect("v1", [{"file_containing_symbol": service.name}])[0]
        for encoded in reply.file_descriptor_response.file_descriptor_proto:
            file = client.descriptor_pb2.FileDescriptorProto.FromString(encoded)
            for declared in file.service:
                if f"{file.package}.{declared.name}" == service.name:
                    found |= {f"{declared.name}/{method.name}" for method in declared.method}
    return found


class Matrix(SecurityCase):
    """Account acme with a table, a feed, an index, a transaction and an operation; there is no worker, so all stays."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.admin_keys = cls.new_account("operators", "--administrator")
        cls.client.update_table(table={"name": "People", "change_feed": True}, update_mask={"paths": ["change_feed"]})
        cls.build_index()
        step = {"insert_or_replace": {"table": "People", "entity": client.entity("s", "1")}}
        for name in ("ours", "ended"):
            cls.client.submit_transaction(transaction_id=name, steps=[step])
        cls.client.cancel_transaction(transaction_id="ended")
        cls.operation = cls.client.delete_range(query={"table": "Other", "filter": "N eq 7"}).operation.operation_id
        cls.paths = {path.removeprefix("/tavola.v1."): (path, method, any(types.is_streamed(method))) for path, method in types.methods()}
        cls.numbers = itertools.count()
        cls.session = servers.session(cls.stack.conninfo(cls.stack.database))
        cls.ask = staticmethod(cls.session.__enter__())
        cls.addClassCleanup(cls.session.__exit__, None, None, None)
        tables = cls.stack.sql("select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace")
        cls.digest = " || ".join(
            f"(select coalesce(md5(string_agg(t::text, ',' order by t::text)), '-') from {name} t)"
            for name in sorted(set(tables.split("\n")) - set(ITS_OWN)))
        wait_for("the new account", lambda: cls.outcome("AdminService/ListQueues", cls.administrator()) == OK)

    @classmethod
    def build_index(cls):
        """With a worker, which ends then: nothing changes by itself."""
        worker = cls.stack.start_worker()
        cls.client.create_index(index={
            "name": "ByN", "table": "People", "shape": 1, "place": 2, "partition_key": [{"property": "N"}]})
        wait_ready(cls.client, "ByN")
        worker.kill()

    @classmethod
    def administrator(cls):
        return token(cls.admin_keys[0], account="operators")

    @classmethod
    def state(cls):
        return cls.ask(f"select {cls.digest}")

    @classmethod
    def outcome(cls, name, given):
        """("OK", None), or the code and the reason, of the row's request."""
        path, method, is_streamed = cls.paths[method_of(name)]
        fields = RULES[name].request(next(cls.numbers))
        fields = {key: cls.operation if value == "OURS" else value for key, value in fields.items()}
        request = types.message(method.input_type.full_name)(**fields).SerializeToString()
        metadata = [] if given is None else [("authorization", "Bearer " + given)]
        channel = cls.client.channel_without_token
        try:
            if not is_streamed:  # a stream has two threads in the library
                channel.unary_unary(path)(request, metadata=metadata, timeout=30)
                return OK
            rpc = channel.stream_stream(path)(iter([request]), metadata=metadata, timeout=30)
            try:
                return cls.rejection(path, [next(rpc)] if path.endswith("/WatchEntities") else list(rpc))
            finally:
                rpc.cancel()
        except client.grpc.RpcError as error:
            found = ApiError(error)
            return found.code, found.reason

    @staticmethod
    def rejection(path, replies):
        """An import refuses entities one by one."""
        if not path.endswith("/ImportEntities"):
            return OK
        reply = types.message("tavola.v1.ImportEntitiesResponse")
        for each in replies:
            for one in reply.FromString(each).rejected:
                return "PERMISSION_DENIED", one.error.reason
        return OK

    @classmethod
    def connect(cls, given):
        connection = super().connect(given)
        connection.channel_without_token = client.grpc.insecure_channel(cls.stack.target)
        cls.addClassCleanup(connection.channel_without_token.close)
        return connection

    def refuse_all(self, name, cases):
        """cases: (what, credential, outcome). None of these calls changes a row."""
        before = self.state()
        for what, given, want in cases:
            got = self.outcome(name, given)
            self.assertEqual(got, want, f"{name}: {what}")
        self.assertEqual(self.state(), before, f"{name}: a refused call has changed something")

    # ---- the table is complete ----

    def test_every_method_has_a_row(self):
        """A new method is red here until the table says what it must answer."""
        self.assertEqual({method_of(name) for name in RULES}, listed_methods(self.client))

    def test_the_comparison_sees_a_write(self):
        before = self.state()
        self.client.insert_or_replace_entity(table="People", entity=client.entity("seen", "1"))
        self.assertNotEqual(self.state(), before)

    # ---- kinds of credentials ----

    def test_without_a_valid_credential(self):
        given = {"none": (None, ANONYMOUS), "no token": ("tvt1.nonsense", FORGED)}
        for kind, make in (("token", token), ("signature", lambda key, **more: sas(key, "people", permissions=PERMISSIONS, **more))):
            given[f"{kind} of a key that is nobody's"] = (make(b"x" * 32), FORGED)
            given[f"expired {kind}"] = (make(self.keys[0], issued=-9, expiry=-1), FORGED)
            given[f"{kind} of another account's key"] = (make(self.other_keys[0]), FORGED)
            given[f"{kind} of the administrators' key"] = (make(self.admin_keys[0]), FORGED)
        before = self.state()
        cases = [(name, what) for name in RULES for what in given]
        # Each call of an unknown signer waits until the server has looked for new accounts.
        with concurrent.futures.ThreadPoolExecutor(32) as callers:
            got = callers.map(lambda case: self.outcome(case[0], given[case[1]][0]), cases)
            for (name, what), outcome in zip(cases, got):
                self.assertEqual(outcome, given[what][1], f"{name}: {what}")
        self.assertEqual(self.state(), before)

    def test_of_another_account(self):
        """Its token sees its own account, which has nothing; nor does its signature open anything of acme."""
        signature = sas(self.other_keys[0], "people", account="globex", permissions=PERMISSIONS)
        own = token(self.other_keys[0], account="globex")
        for name, rule in RULES.items():
            if rule.other == ("OK",):
                continue  # in its own account, which is not empty then
            want = REFUSED[0] if rule.needs == ADMINISTRATOR else "NOT_FOUND"
            before = self.state()
            self.assertEqual(self.outcome(name, own)[0], want, name)
            signed = self.outcome(name, signature)
            self.assertIn(signed[0], ("NOT_FOUND", "PERMISSION_DENIED") if rule.opens_to_signatures else (REFUSED[0],), name)
            self.assertEqual(self.state(), before, name)

    def test_administration(self):
        mine = token(self.keys[0])
        for name, rule in RULES.items():
            if rule.needs != ADMINISTRATOR:
                continue
            self.refuse_all(name, [("a token of the account", mine, REFUSED)])
            self.assertNotIn(self.outcome(name, self.administrator())[0], ("PERMISSION_DENIED", "UNAUTHENTICATED"), name)

    def test_the_right_to_administer_opens_no_other_account(self):
        before = self.state()
        for name, rule in RULES.items():
            if rule.needs != ADMINISTRATOR and rule.other != ("OK",):
                self.assertEqual(self.outcome(name, self.administrator())[0], "NOT_FOUND", name)
        self.assertEqual(self.state(), before)

    # ---- signatures ----

    def given(self, letters, limits):
        return sas(self.keys[0], "people", permissions=letters, **limits)

    @staticmethod
    def combinations(name, rule):
        """(letters, range). Of every method each set of letters; if it is open to signatures, with each range also the letters
        that it needs, all of them but each one, and all letters but each of these.
        """
        if name in IN_FULL:
            return set(itertools.product(SETS, RANGES))
        found = set(zip(SETS if rule.opens_to_signatures else SETS[1::4], itertools.cycle(RANGES)))
        if rule.opens_to_signatures:
            for missing in ("", *rule.needs):
                for letters in (rule.needs, PERMISSIONS):
                    found |= {(letters.replace(missing, "") if missing else letters, where) for where in RANGES}
        return found

    def cases(self, name, rule):
        for letters, where in sorted(self.combinations(name, rule)):
            limits, has_range, is_inside = RANGES[where]
            want = rule.for_signature(letters, has_range, is_inside)
            yield f"{letters or 'no permissions'}, {where}", self.given(letters, limits), want

    def test_every_set_of_permissions_with_every_range(self):
        for name, rule in RULES.items():
            cases = list(self.cases(name, rule))
            self.refuse_all(name, [case for case in cases if case[2] != OK])
            for what, given, want in cases:
                if want == OK:
                    self.client.insert_or_replace_entity(table="People", entity=client.entity("b", "2", {"N": 1}))
                    self.assertEqual(self.outcome(name, given), OK, f"{name}: {what}")

    def test_for_another_table(self):
        for name in RULES:
            cases = [(f"{letters}, {where}", sas(self.keys[0], "other", permissions=letters, **RANGES[where][0]))
                     for letters, where in ((PERMISSIONS, "no range"), (PERMISSIONS, "its partition"), ("raud", "its row"))]
            before = self.state()
            for what, given in cases:
                self.assertIn(self.outcome(name, given), self.of_another_table(name), f"{name}: {what}")
            self.assertEqual(self.state(), before, name)

    @staticmethod
    def of_another_table(name):
        """A transaction without the permission t does not get as far as its table."""
        missing = ("PERMISSION_DENIED", "AUTHORIZATION_PERMISSION_MISMATCH")
        if RULES[name].outside == ONLY_OWN:
            return (NO_TRANSACTION, missing)
        return (REFUSED, missing) if "ransaction" in name and RULES[name].needs != TOKEN else (REFUSED,)

    def test_expired_with_every_set_of_permissions(self):
        for name in RULES:
            self.refuse_all(name, [
                (f"expired, {letters}, {where}",
                 sas(self.keys[0], "people", permissions=letters, issued=-9, expiry=-1, **RANGES[where][0]), FORGED)
                for letters, where in zip(SETS[1::7], itertools.cycle(RANGES))])


if __name__ == "__main__":
    unittest.main()
