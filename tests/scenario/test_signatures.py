# SPDX-License-Identifier: Apache-2.0
"""What each shared access signature opens: permissions, ranges of keys, tables, policies, batches, imports, transactions."""

import time
import unittest

from tavola_test import client
from tavola_test.client import ApiError, match
from tavola_test.credentials import sas, token
from tavola_test.security_case import (
    ABSENT,
    FORGED,
    MISMATCH,
    OK,
    REFUSED,
    WRONG_ADDRESS,
    WRONG_PROTOCOL,
    SecurityCase,
    address,
    result,
)
from tavola_test.waiting import wait_for


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
                ("see a transaction of the account", result(connection.get_transaction, transaction_id="x"),
                    ("NOT_FOUND", "TRANSACTION_NOT_FOUND")),
            ]
        )
        self.assertEqual(self.read(token(self.keys[0])), OK)

    def test_a_range_does_not_tell_of_indexes(self):
        narrow, query = self.sas("ri", low=("b", ""), high=("b",)), {"table": "People", "filter": "N eq 1"}
        self.assertTrue(self.sas("ri").explain_query(query=query).suggestions)
        self.assertFalse(narrow.explain_query(query=query).suggestions)
        with self.assertRaises(ApiError) as caught:
            narrow.lookup_index(index="Nothing")
        self.assertIn("range", caught.exception.message)

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

    def test_the_owners_tokens_do_not_widen_a_range(self):
        """Page and resume tokens hold a position, and no permission."""
        inside = {"c1", "c2", "c3"}
        narrow = self.sas("r", low=("c", ""), high=("c",))
        scan = client.types.message("tavola.v1.ScanEntitiesRequest")
        for descending in (False, True):
            query = {"table": "People", "descending": descending}
            page, tokens = "", []
            while True:
                reply = self.client.query_entities(query=query, page_size=1, page_token=page)
                page = reply.next_page_token
                if not page:
                    break
                tokens.append(page)
            self.assertGreater(len(tokens), 10)
            for page in tokens:
                found = narrow.query_entities(query=query, page_token=page).entities
                self.assertLessEqual({e.partition_key + e.row_key for e in found}, inside)
            whole = next(self.client.scan_entities([scan(query=query)])).resume_token
            for reply in narrow.scan_entities([scan(query=query, resume_token=whole)]):
                self.assertLessEqual({e.partition_key + e.row_key for e in reply.entities}, inside)

    def test_watches_see_the_range_only(self):
        self.client.create_table(name="Watched", change_feed=True)
        given = sas(self.keys[0], "watched", permissions="r", low=("m", ""), high=("m",))
        request = client.types.message("tavola.v1.WatchEntitiesRequest")(table="Watched")
        watch = self.connect(given).watch_entities([request])
        next(watch)
        for partition, row in (("l", "1"), ("m", "1"), ("n", "1"), ("m", "2")):
            self.client.insert_entity(table="Watched", entity=client.entity(partition, row))
        seen = []
        while ("m", "2") not in seen:
            seen += [(change.entity.partition_key, change.entity.row_key) for change in next(watch).changes]
        self.assertEqual(seen, [("m", "1"), ("m", "2")])
        # Two tokens do not tell whether anything has changed between them.
        tokens = [next(self.connect(given).watch_entities([request])).resume_token for _ in range(2)]
        self.client.insert_entity(table="Watched", entity=client.entity("a", "unseen"))
        tokens.append(next(self.connect(given).watch_entities([request])).resume_token)
        self.assertEqual((len(set(tokens)), len({len(text) for text in tokens})), (3, 1))
        blind = self.connect(sas(self.keys[0], "watched", permissions="aud"))
        self.assertEqual(result(lambda: next(blind.watch_entities([request]))), MISMATCH)

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
        """Whole streams fail by status; single entities fail by their own error."""
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

    def test_ids_belong_to_the_table_and_the_range(self):
        """Nobody can take an id before another, or see that it is taken; a renewed signature has the same ids."""

        def signer(low, permissions="raudt"):
            return self.sas(permissions, low=(low, ""), high=(low,))

        def insert(connection, partition, row="9"):
            return result(connection.insert_entity, table="People", entity=client.entity(partition, row), request_id="pay")

        def submit(connection, partition, row="8"):
            step = {"insert_or_replace": {"table": "People", "entity": client.entity(partition, row)}}
            return result(connection.submit_transaction, transaction_id="pay", steps=[step])

        def see(connection):
            return result(connection.get_transaction, transaction_id="pay")

        reused, other = ("ALREADY_EXISTS", "REQUEST_ID_REUSED"), ("ALREADY_EXISTS", "TRANSACTION_ID_REUSED")
        unknown = ("NOT_FOUND", "TRANSACTION_NOT_FOUND")
        self.check(
            [
                ("of one signature", insert(signer("x"), "x"), OK),
                ("of another", insert(signer("y"), "y"), OK),
                ("of the account", insert(self.client, "z"), OK),
                ("again, renewed", insert(signer("x", "raud"), "x"), OK),
                ("again with another content", insert(signer("x"), "x", "7"), reused),
                ("a transaction of one signature", submit(signer("x"), "x"), OK),
                ("of another", submit(signer("y"), "y"), OK),
                ("of the account", submit(self.client, "z"), OK),
                ("again, renewed", submit(signer("x", "aut"), "x"), OK),
                ("again with other steps", submit(signer("x"), "x", "7"), other),
                ("one's own", see(signer("x")), OK),
                ("without t", see(signer("x", "raud")), MISMATCH),
                ("without r", see(signer("x", "audt")), MISMATCH),
                ("of a range without one", see(signer("w")), unknown),
                ("to cancel it", result(signer("x").cancel_transaction, transaction_id="pay"), REFUSED),
            ]
        )
        mine = signer("x").get_transaction(transaction_id="pay").transaction
        self.assertEqual(mine.steps[0].insert_or_replace.entity.partition_key, "x")
        self.assertEqual(self.client.get_transaction(transaction_id=mine.transaction_id).transaction.steps, mine.steps)
        ids = [t.transaction_id for t in self.client.list_transactions().transactions if t.transaction_id.startswith("pay")]
        self.assertEqual((len(ids), "pay" in ids, mine.transaction_id in ids), (3, True, True))

    def test_what_an_earlier_version_has_recorded_is_recognised(self):
        """Then ids had no scope: the rows are made as that version made them."""
        step = {"insert_or_replace": {"table": "People", "entity": client.entity("a", "old")}}
        self.client.insert_entity(table="People", entity=client.entity("a", "old"), request_id="old")
        self.client.submit_transaction(transaction_id="old", steps=[step])
        connection = self.sas("raudt")
        again = {"table": "People", "entity": client.entity("a", "old"), "request_id": "old"}
        self.assertEqual(result(connection.insert_entity, **again), OK, "the recorded answer")
        self.assertEqual(connection.submit_transaction(transaction_id="old", steps=[step]).transaction.transaction_id, "old")

    def test_addresses(self):
        # The server listens on a Unix socket: callers have no address there, so no range of addresses contains them.
        self.assertEqual(self.read(sas(self.keys[0], "people", source=("127.0.0.1", "127.0.0.1"))), WRONG_ADDRESS)

    def test_what_is_for_tls_only_opens_nothing_in_plain_text(self):
        self.assertEqual(self.read(sas(self.keys[0], "people", tls_only=True)), WRONG_PROTOCOL)

    def test_a_signature_does_not_open_the_next_table_of_that_name(self):
        self.client.create_table(name="Reborn")
        # A signature as if it had been made before the table was created, for an earlier table of the name.
        old = sas(self.keys[0], "reborn", issued=-120)
        self.assertEqual(self.read(old, table="Reborn"), REFUSED)
        self.assertEqual(self.read(sas(self.keys[0], "reborn"), table="Reborn"), ABSENT)
        # The signer's clock is behind: nothing had the name before, so the table is the one that was meant.
        slow = sas(self.keys[0], "reborn", issued=-30)
        self.assertEqual(self.read(slow, table="Reborn"), ABSENT)
        signature_of_now = sas(self.keys[0], "reborn")
        self.client.delete_table(name="Reborn")
        self.client.create_table(name="REBORN")
        self.assertEqual(self.read(slow, table="Reborn"), REFUSED)
        self.assertEqual(self.read(signature_of_now, table="Reborn"), REFUSED)
        self.assertEqual(result(self.connect(slow).insert_entity, table="Reborn", entity=client.entity("a", "1")), REFUSED)
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


if __name__ == "__main__":
    unittest.main()
