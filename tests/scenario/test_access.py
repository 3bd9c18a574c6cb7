# SPDX-License-Identifier: Apache-2.0
"""Every method there is, and who gets nothing from it: callers without a token, with a wrong one, of another account,
with a signature for another table, without the rights of an administrator.

The methods are those the server declares. A new one is red here until REQUESTS has a row for it.
"""

import unittest

from tavola_test import client
from tavola_test.client import ApiError, match, types
from tavola_test.credentials import sas, token
from tavola_test.permissions import NO_TRANSACTION
from tavola_test.security_case import ANONYMOUS, FORGED, OK, REFUSED, SecurityCase, address
from tavola_test.waiting import wait_for

SECRET = "buried treasure"
ANYBODY = ("/grpc.health.v1.", "/grpc.reflection.")
PUT = {"insert_or_replace": {"table": "People", "entity": client.entity("a", "new")}}
TABLE, QUERY, KEY = {"table": "People"}, {"query": {"table": "People"}}, {"key": address("a", "1")}
WRITE = {**TABLE, "entity": client.entity("a", "1")}
INDEX = {"name": "ByOther", "table": "People", "shape": 1, "place": 2, "partition_key": [{"property": "Other"}]}

# Requests for the data of account acme. True: a signature for People may get as far as the store.
REQUESTS = {
    "TableService/CreateTable": (False, {"name": "People"}),
    "TableService/GetTable": (False, {"name": "People"}),
    "TableService/GetAccountUsage": (False, {}),
    "TableService/ListTables": (False, {}),
    "TableService/UpdateTable": (False, {"table": {"name": "People", "default_max_plan": 1}}),
    "TableService/DeleteTable": (False, {"name": "People"}),
    "EntityService/InsertEntity": (True, {**TABLE, "entity": client.entity("a", "new")}),
    "EntityService/ReplaceEntity": (True, {**WRITE, "precondition": match()}),
    "EntityService/MergeEntity": (True, {**WRITE, "precondition": match()}),
    "EntityService/InsertOrReplaceEntity": (True, WRITE),
    "EntityService/InsertOrMergeEntity": (True, WRITE),
    "EntityService/DeleteEntity": (True, {**TABLE, **KEY, "precondition": match()}),
    "EntityService/ExecuteBatch": (True, {**TABLE, "operations": [{"insert_or_replace": client.entity("a", "1")}]}),
    "EntityService/GetEntity": (True, {**TABLE, **KEY}),
    "EntityService/BatchGetEntities": (True, {**TABLE, "keys": [address("a", "1")]}),
    "EntityService/QueryEntities": (True, QUERY),
    "EntityService/CountEntities": (True, QUERY),
    "EntityService/ExplainQuery": (True, QUERY),
    "EntityService/ScanEntities": (True, QUERY),
    "EntityService/WatchEntities": (True, TABLE),
    "EntityService/ImportEntities": (True, {**TABLE, "entities": [client.entity("a", "1")]}),
    "EntityService/DeleteRange": (False, {**QUERY}),
    "IndexService/CreateIndex": (False, {"index": INDEX}),
    "IndexService/GetIndex": (False, {"name": "ByN"}),
    "IndexService/ListIndexes": (False, {}),
    "IndexService/UpdateIndex": (False, {"name": "ByN", "consistency": 1}),
    "IndexService/ReplaceIndex": (False, {"index": {**INDEX, "name": "ByN"}}),
    "IndexService/DropIndex": (False, {"name": "ByN"}),
    "IndexService/VerifyIndex": (False, {"name": "ByN"}),
    "IndexService/RepairIndex": (False, {"name": "ByN"}),
    "IndexService/GetIndexReport": (False, {"operation_id": "OURS"}),
    "IndexService/LookupIndex": (True, {"index": "ByN", "equals": [client.value(SECRET)]}),
    "TransactionService/SubmitTransaction": (True, {"transaction_id": "theirs", "steps": [PUT]}),
    "TransactionService/GetTransaction": (False, {"transaction_id": "ours"}),
    "TransactionService/ListTransactions": (False, {}),
    "TransactionService/WaitTransaction": (False, {"transaction_id": "ours"}),
    "TransactionService/WatchTransaction": (False, {"transaction_id": "ours"}),
    "TransactionService/CancelTransaction": (False, {"transaction_id": "ours"}),
    "BlobService/PutBlob": (False, {"header": {"name": "photos/1"}, "end": True}),
    "BlobService/GetBlob": (False, {"name": "photos/1"}),
    "BlobService/StatBlob": (False, {"name": "photos/1"}),
    "BlobService/DeleteBlob": (False, {"name": "photos/1"}),
    "BlobService/ListBlobs": (False, {"prefix": "photos/"}),
    "BlobService/GetUpload": (False, {"upload_id": "ours"}),
    "OperationService/GetOperation": (False, {"operation_id": "OURS"}),
    "OperationService/ListOperations": (False, {}),
    "OperationService/WaitOperation": (False, {"operation_id": "OURS"}),
    "OperationService/ControlOperation": (False, {"operation_id": "OURS", "control": 3}),
    "AdminService/ListQueues": (False, {}),
    "AdminService/ControlQueue": (False, {"control": 1}),
    "AdminService/ListDeadLetters": (False, {}),
    "AdminService/RedriveDeadLetters": (False, {"dead_letter_ids": [1]}),
    "AdminService/DiscardDeadLetters": (False, {"dead_letter_ids": [1], "reason": "to do harm"}),
    "AdminService/ListHotPartitions": (False, {}),
    "AdminService/ListAuditRecords": (False, {}),
    "AdminService/ListChunkStores": (False, {}),
    "AdminService/MoveChunks": (False, {"store": 2}),
    "AdminService/ListServerSamples": (False, {}),
    "IndexService/AdviseIndexes": (False, {"table": "People"}),
}


class EveryMethod(SecurityCase):
    """All data of acme holds a secret; no other account may see or change any of it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.update_table(table={"name": "People", "change_feed": True}, update_mask={"paths": ["change_feed"]})
        cls.client.insert_entity(table="People", entity=client.entity("s", "1", {"N": SECRET}))
        cls.client.create_index(index={**INDEX, "name": "ByN", "partition_key": [{"property": "N"}]})
        cls.client.submit_transaction(transaction_id="ours", steps=[{"insert_or_replace": {
            "table": "People", "entity": client.entity("s", "2", {"N": SECRET})}}])
        # There is no worker, so it stays as it is.
        cls.operation = cls.client.delete_range(query={"table": "Other", "filter": f"N eq '{SECRET}'"}).operation.operation_id
        cls.methods = dict(types.methods())
        cls.channel = client.grpc.insecure_channel(cls.stack.target)
        cls.addClassCleanup(cls.channel.close)

    def setUp(self):
        self.before = self.everything()

    def tearDown(self):
        self.assertEqual(self.everything(), self.before, "acme's things have changed")

    def everything(self):
        mine = self.client
        replies = [mine.list_tables(), mine.list_indexes(), mine.list_transactions(), mine.list_operations()]
        replies += [mine.query_entities(query={"table": name}) for name in ("People", "Other")]
        for reply in replies:
            if "stats" in reply.DESCRIPTOR.fields_by_name:
                reply.ClearField("stats")
            for index in getattr(reply, "indexes", ()):
                index.ClearField("status")
        return [reply.SerializeToString(deterministic=True) for reply in replies]

    def protected(self):
        return [path for path in self.methods if not path.startswith(ANYBODY)]

    def row(self, path):
        short = path.removeprefix("/tavola.v1.")
        self.assertIn(short, REQUESTS, "a new method: add the request that a caller without the right would send")
        for_signatures, fields = REQUESTS[short]
        return for_signatures, {name: self.operation if value == "OURS" else value for name, value in fields.items()}

    def ask(self, given, path, fields):
        """Returns (OK, all replies), or the code and the reason, and the error's message."""
        method = self.methods[path]
        message = types.message(method.input_type.full_name)(**fields)
        metadata = [] if given is None else [("authorization", "Bearer " + given)]
        # A watch that is permitted lasts until its deadline.
        timeout = 2 if path.endswith("/WatchEntities") else 20
        rpc = self.channel.stream_stream(path)
        try:
            replies = list(rpc(iter([message.SerializeToString()]), metadata=metadata, timeout=timeout))
            return OK, self.rejection(path, replies), replies
        except client.grpc.RpcError as error:
            found = ApiError(error)
            return (found.code, found.reason), None, [str(found).encode()]

    @staticmethod
    def rejection(path, replies):
        """Import refuses single entities."""
        if not path.endswith("ImportEntities"):
            return None
        reply = types.message("tavola.v1.ImportEntitiesResponse")
        reasons = {one.error.reason for each in replies for one in reply.FromString(each).rejected}
        return ("rejected", *reasons) if reasons else None

    def test_without_a_token(self):
        for path in self.protected():
            with self.subTest(path):
                self.assertEqual(self.ask(None, path, {})[0], ANONYMOUS)
                self.assertEqual(self.ask(None, path, self.row(path)[1])[0], ANONYMOUS)

    def test_with_a_wrong_token(self):
        for path in self.protected():
            for name, wrong in (("of no key", token(b"x" * 32)), ("expired", token(self.keys[0], issued=-9, expiry=-1)),
                                ("of another account's key", token(self.other_keys[0])),
                                ("a signature of another account's key", sas(self.other_keys[0], "people", permissions="raudit"))):
                with self.subTest(path, token=name):
                    self.assertEqual(self.ask(wrong, path, {})[0], FORGED)
                    self.assertEqual(self.ask(wrong, path, self.row(path)[1])[0], FORGED)

    def test_of_another_account(self):
        wide = sas(self.other_keys[0], "people", account="globex", permissions="raudit")
        for name, given in (("a token", token(self.other_keys[0], account="globex")), ("a signature with all permissions", wide)):
            for path in self.protected():
                fields = self.row(path)[1]
                with self.subTest(path, given=name):
                    got, _, said = self.ask(given, path, fields)
                    self.assertIn(got[0], ("OK", "NOT_FOUND", "PERMISSION_DENIED"), got)
                    for reply in said:
                        # An error may repeat what the request holds.
                        self.assertNotIn(SECRET, "" if SECRET in str(fields) else reply.decode("utf-8", "replace"))

    def test_the_owner_would_have_seen_it(self):
        mine = token(self.keys[0])
        for path in ("QueryEntities", "ScanEntities"):
            _, _, said = self.ask(mine, "/tavola.v1.EntityService/" + path, QUERY)
            self.assertIn(SECRET.encode(), b"".join(said))

    @staticmethod
    def refusal(path):
        """A signature sees the transactions of its own table and range: the account's is not there."""
        return NO_TRANSACTION if path.endswith(("/GetTransaction", "/WaitTransaction", "/WatchTransaction")) else REFUSED

    def test_with_a_signature_for_another_table(self):
        other = sas(self.keys[0], "other", permissions="raudit")
        for path in self.protected():
            with self.subTest(path):
                got, _, _ = self.ask(other, path, self.row(path)[1])
                self.assertEqual(got, self.refusal(path))

    def test_what_no_signature_opens(self):
        """Even with all permissions on the table itself."""
        nothing = sas(self.keys[0], "people", permissions="raudit", low=("x", ""), high=("x",))
        for path in self.protected():
            for_signatures, fields = self.row(path)
            if not for_signatures:
                with self.subTest(path):
                    self.assertEqual(self.ask(nothing, path, fields)[0], self.refusal(path))

    def test_a_signature_that_gives_nothing_of_use(self):
        """A signature for the right table, with one permission at a time and an empty range."""
        for letter in "raudit":
            given = sas(self.keys[0], "people", permissions=letter, low=("x", ""), high=("x",))
            for path in self.protected():
                with self.subTest(path, permission=letter):
                    got, rejected, said = self.ask(given, path, self.row(path)[1])
                    # A watch without a change lasts until its deadline.
                    ends = ("DEADLINE_EXCEEDED",) if path.endswith("/WatchEntities") else ("OK", "NOT_FOUND")
                    self.assertIn((rejected or got)[0], (*ends, "PERMISSION_DENIED", "rejected"), got)
                    for reply in said:
                        self.assertNotIn(SECRET, reply.decode("utf-8", "replace"))

    def test_administration_needs_an_administrator(self):
        mine = token(self.keys[0])
        admin = [path for path in self.protected() if path.startswith("/tavola.v1.AdminService/")]
        self.assertTrue(admin)
        for path in admin:
            with self.subTest(path):
                self.assertEqual(self.ask(mine, path, self.row(path)[1])[0], REFUSED)
        keys = self.new_account("operators", "--administrator")
        given = token(keys[0], account="operators")
        wait_for("the new account", lambda: self.ask(given, admin[0], self.row(admin[0])[1])[0] == OK)
        for path in admin:
            with self.subTest(path):
                self.assertNotIn(self.ask(given, path, self.row(path)[1])[0][0], ("PERMISSION_DENIED", "UNAUTHENTICATED"))

    def test_only_health_and_reflection_need_no_credential(self):
        services = {path.split("/")[1] for path in self.methods if path not in self.protected()}
        self.assertEqual(services, {"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                                    "grpc.reflection.v1alpha.ServerReflection"})


if __name__ == "__main__":
    unittest.main()
