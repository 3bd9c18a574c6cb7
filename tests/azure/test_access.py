# SPDX-License-Identifier: Apache-2.0
"""Who may do what at the Azure Tables door: signed requests, signatures of tables and accounts, and every way to fail."""

import base64
import time
import unittest
from email.utils import formatdate

from tavola_test import client
from tavola_test.azure import DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Door, account_sas, subsets, table_sas
from tavola_test.client import ApiError, match
from tavola_test.credentials import sas, token
from tavola_test.ports import free_port
from tavola_test.security_case import SecurityCase, address
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

FAILED = (403, "AuthenticationFailed")
KEY = "People(PartitionKey='a',RowKey='1')"


def result(reply):
    return reply.status, reply.code()


class Access(SecurityCase):
    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.settings = {"TAVOLA_HTTP_LISTEN": f"127.0.0.1:{cls.port}"}
        super().setUpClass()
        wait_for("the door", lambda: cls.stack.accepts(f"127.0.0.1:{cls.port}"))

    def door(self, key=None, **more):
        return Door(self.port, key, **more)

    # ---- keys

    def test_both_keys_and_both_schemes(self):
        for key in self.keys:
            for scheme in ("SharedKey", "SharedKeyLite"):
                with self.subTest(scheme):
                    reply = self.door(key, scheme=scheme).send("GET", "/" + KEY)
                    self.assertEqual(result(reply), (200, "OK"), reply.text)

    def test_the_connection_string_has_the_key_that_signs(self):
        key = "tvk1." + base64.urlsafe_b64encode(self.keys[0]).decode().rstrip("=")
        words = ("account", "connection-string", "acme", f"http://127.0.0.1:{self.port}/")
        printed = self.operate(*words, TAVOLA_ACCOUNT_KEY=key)
        parts = dict(part.split("=", 1) for part in printed.split(";"))
        self.assertEqual(
            {name: parts[name] for name in ("DefaultEndpointsProtocol", "AccountName", "TableEndpoint")},
            {"DefaultEndpointsProtocol": "http", "AccountName": "acme", "TableEndpoint": f"http://127.0.0.1:{self.port}/acme"})
        reply = self.door(base64.b64decode(parts["AccountKey"])).send("GET", "/" + KEY)
        self.assertEqual(result(reply), (200, "OK"), reply.text)

    def test_every_way_to_fail(self):
        door = self.door(self.keys[0])
        minutes = 60
        cases = {
            "no credential": (self.door().send("GET", "/" + KEY), (401, "NoAuthenticationInformation")),
            "another account's key": (self.door(self.other_keys[0]).send("GET", "/" + KEY), FAILED),
            "no such account": (self.door(self.keys[0], account="nobody").send("GET", "/" + KEY), FAILED),
            "the development account": (self.door(DEVELOPMENT_KEY, account=DEVELOPMENT_ACCOUNT).send("GET", "/" + KEY), FAILED),
            "16 minutes ago": (door.send("GET", "/" + KEY, x_ms_date=formatdate(time.time() - 16 * minutes, usegmt=True)), FAILED),
            "in 16 minutes": (door.send("GET", "/" + KEY, x_ms_date=formatdate(time.time() + 16 * minutes, usegmt=True)), FAILED),
            "14 minutes ago": (door.send("GET", "/" + KEY, x_ms_date=formatdate(time.time() - 14 * minutes, usegmt=True)), (200, "OK")),
            "a date of no form": (door.send("GET", "/" + KEY, x_ms_date="2026-11-22T12:00:00Z"), FAILED),
            "a scheme of no form": (door.send("GET", "/" + KEY, Authorization="Basic YTpi"), FAILED),
            "a signature of no form": (door.send("GET", "/" + KEY, Authorization="SharedKey acme:x"), FAILED),
            "a signature and a key": (door.send("GET", "/" + KEY, query=table_sas(self.keys[0], "People")), FAILED),
            "a token": (self.door().send("GET", "/" + KEY, Authorization="Bearer " + token(self.keys[0])), (200, "OK")),
            "a token of another account": (
                self.door().send("GET", "/" + KEY, Authorization="Bearer " + token(self.other_keys[0], account="globex")), FAILED),
        }
        for name, (reply, want) in cases.items():
            with self.subTest(name):
                self.assertEqual(result(reply), want, reply.text)

    def test_what_was_signed_is_what_counts(self):
        door = self.door(self.keys[0])
        signed = {"x-ms-date": formatdate(usegmt=True), "Content-Type": "application/json"}
        good = door.authorization("GET", "/acme/" + KEY, signed)
        for name, method, path, headers in (
            ("as signed", "GET", "/acme/" + KEY, {}),
            ("another verb", "DELETE", "/acme/" + KEY, {"If-Match": "*"}),
            ("another entity", "GET", "/acme/People(PartitionKey='a',RowKey='2')", {}),
            ("another spelling", "GET", "/acme/People(PartitionKey=%27a%27,RowKey='1')", {}),
            ("another account", "GET", "/globex/" + KEY, {}),
            ("another operation", "GET", "/acme/People?comp=acl", {}),
            ("another type", "GET", "/acme/" + KEY, {"Content-Type": "text/plain"}),
            ("a digest", "GET", "/acme/" + KEY, {"Content-MD5": "Q2hlY2s="}),
        ):
            with self.subTest(name):
                reply = door.raw(method, path, None, {**signed, **headers, "Authorization": good})
                self.assertEqual(result(reply), (200, "OK") if name == "as signed" else FAILED, reply.text)

    # ---- signatures of tables

    def test_fields_of_a_table_signature(self):
        key = self.keys[0]
        cases = {
            "good": (table_sas(key, "People"), (200, "OK")),
            "its name in another case": (table_sas(key, "pEOPLE"), (200, "OK")),
            "signed for another case": (table_sas(key, "people", tn="PEOPLE"), (200, "OK")),
            "another table": (table_sas(key, "Other"), (403, "AuthorizationFailure")),
            "renamed": (table_sas(key, "Other", tn="People"), FAILED),
            "expired": (table_sas(key, "People", expiry=-1), FAILED),
            "extended": (table_sas(key, "People", expiry=-1, se="2999-01-01"), FAILED),
            "not yet valid": (table_sas(key, "People", start=120), FAILED),
            "started": (table_sas(key, "People", start=-5), (200, "OK")),
            "from here": (table_sas(key, "People", source="127.0.0.1"), (200, "OK")),
            "from elsewhere": (table_sas(key, "People", source="10.0.0.0-10.0.0.9"), (403, "AuthorizationSourceIPMismatch")),
            "encrypted only": (table_sas(key, "People", protocol="https"), (403, "AuthorizationProtocolMismatch")),
            "encrypted or not": (table_sas(key, "People", protocol="https,http"), (200, "OK")),
            "no such policy": (table_sas(key, "People", policy="nothing"), FAILED),
            "more permissions than signed": (table_sas(key, "People", permissions="a", sp="r"), FAILED),
            "no permissions": (table_sas(key, "People", permissions=""), FAILED),
            "permissions in another order": (table_sas(key, "People", permissions="ar"), FAILED),
            "another version": (table_sas(key, "People", version="2024-11-04"), (200, "OK")),
            "another key": (table_sas(self.other_keys[0], "People"), FAILED),
            "twice": (table_sas(key, "People") + "&sp=raud", FAILED),
        }
        for name, (query, want) in cases.items():
            with self.subTest(name):
                reply = self.door().send("GET", "/" + KEY, query=query)
                self.assertEqual(result(reply), want, reply.text)

    def rest_operations(self):
        """name -> (what it needs of keys: where it acts, the function that sends it with a query)"""
        body = {"PartitionKey": "c", "RowKey": "x", "N": 2}

        def at(partition):
            return f"/People(PartitionKey='{partition}',RowKey='x')"

        return {
            "query": lambda q, p: self.door().send("GET", "/People()", query=q),
            "get": lambda q, p: self.door().send("GET", f"/People(PartitionKey='{p}',RowKey='1')", query=q),
            "insert": lambda q, p: self.door().send("POST", "/People", {**body, "PartitionKey": p}, query=q),
            "replace": lambda q, p: self.door().send("PUT", at(p), body, query=q, If_Match="*"),
            "merge": lambda q, p: self.door().send("PATCH", at(p), body, query=q, If_Match="*"),
            "insert or replace": lambda q, p: self.door().send("PUT", at(p), body, query=q),
            "insert or merge": lambda q, p: self.door().send("MERGE", at(p), body, query=q),
            "delete": lambda q, p: self.door().send("DELETE", at(p), query=q, If_Match="*"),
            "list tables": lambda q, p: self.door().send("GET", "/Tables", query=q),
            "get table": lambda q, p: self.door().send("GET", "/Tables('People')", query=q),
            "create table": lambda q, p: self.door().send("POST", "/Tables", {"TableName": "New"}, query=q),
            "delete table": lambda q, p: self.door().send("DELETE", "/Tables('People')", query=q),
        }

    @staticmethod
    def grpc_operations():
        def entity(partition):
            return client.entity(partition, "x", {"N": 2})

        return {
            "query": lambda c, p: c.query_entities(query={"table": "People"}),
            "get": lambda c, p: c.get_entity(table="People", key=address(p, "1")),
            "insert": lambda c, p: c.insert_entity(table="People", entity=entity(p)),
            "replace": lambda c, p: c.replace_entity(table="People", entity=entity(p), precondition=match()),
            "merge": lambda c, p: c.merge_entity(table="People", entity=entity(p), precondition=match()),
            "insert or replace": lambda c, p: c.insert_or_replace_entity(table="People", entity=entity(p)),
            "insert or merge": lambda c, p: c.insert_or_merge_entity(table="People", entity=entity(p)),
            "delete": lambda c, p: c.delete_entity(table="People", key=address(p, "x"), precondition=match()),
            "list tables": lambda c, p: c.list_tables(),
            "get table": lambda c, p: c.get_table(name="People"),
            "create table": lambda c, p: c.create_table(name="New"),
            "delete table": lambda c, p: c.delete_table(name="People"),
        }

    def prepare(self, name, partition):
        """What the operation needs to succeed, and nothing else, is there."""
        if name == "insert":
            try:
                self.client.delete_entity(table="People", key=address(partition, "x"), precondition=match())
            except ApiError:
                pass
        elif partition != "e" and name not in ("query", "get") and "table" not in name:
            self.client.insert_or_replace_entity(table="People", entity=client.entity(partition, "x", {"N": 1}))

    def over_grpc(self, run, connection, partition):
        try:
            run(connection, partition)
        except ApiError as error:
            return "".join(word.capitalize() for word in error.reason.split("_"))
        return "OK"

    def test_a_signature_opens_what_the_same_signature_opens_over_grpc(self):
        rest, grpc = self.rest_operations(), self.grpc_operations()
        for permissions in subsets("raud")[1:]:
            for ends in ({}, {"low": ("b", ""), "high": ("c", "x")}):
                query = table_sas(self.keys[0], "People", permissions, **ends)
                connection = self.connect(sas(self.keys[0], "people", permissions=permissions, **ends))
                for name, send in rest.items():
                    for partition in ("c", "d"):
                        with self.subTest(f"{name} with {permissions} {ends} in {partition}"):
                            self.prepare(name, partition)
                            want = self.over_grpc(grpc[name], connection, partition)
                            self.prepare(name, partition)
                            reply = send(query, partition)
                            self.assertEqual(reply.code(), want, reply.text)

    def test_a_query_shows_the_range_only(self):
        reply = self.door().send(
            "GET", "/People()", query=table_sas(self.keys[0], "People", "r", low=("a", "2"), high=("b", "1")) + "&$select=PartitionKey,RowKey",
            Accept="application/json;odata=nometadata")
        self.assertEqual(
            reply.text,
            '{"value":[{"PartitionKey":"a","RowKey":"2"},{"PartitionKey":"a","RowKey":"3"},{"PartitionKey":"b","RowKey":"1"}]}')

    # ---- stored access policies

    def test_policies_are_set_as_a_whole_and_limit_signatures(self):
        door = self.door(self.keys[0])
        self.assertEqual(result(door.send("POST", "/Tables", {"TableName": "Policies"})), (201, "OK"))

        def identifier(name, *terms):
            return f"<SignedIdentifier><Id>{name}</Id><AccessPolicy>{''.join(terms)}</AccessPolicy></SignedIdentifier>"

        def set_policies(*identifiers):
            body = f'<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers>{"".join(identifiers)}</SignedIdentifiers>'
            return result(door.send("PUT", "/Policies?comp=acl", body, Content_Type="application/xml"))

        def use(**fields):
            return result(self.door().send("GET", "/Policies()", query=table_sas(self.keys[0], "Policies", **fields)))

        future = f"<Expiry>{time.strftime('%Y-%m-%dT%H:%M:%S.0000000Z', time.gmtime(time.time() + 600))}</Expiry>"
        readers = identifier("readers", future, "<Permission>r</Permission>")
        terms = {"permissions": "", "expiry": None, "policy": "readers"}
        self.assertEqual(set_policies(readers, identifier("bare")), (204, "OK"))
        reply = door.send("GET", "/Policies?comp=acl")
        self.assertEqual(reply.headers["Content-Type"], "application/xml")
        self.assertEqual(
            reply.text, f'<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers>{readers}{identifier("bare")}</SignedIdentifiers>')
        wait_for("the policy", lambda: use(**terms) == (200, "OK"))
        self.assertEqual(use(policy="readers", permissions="r", expiry=None), FAILED)
        self.assertEqual(use(policy="bare", permissions="r"), (200, "OK"))
        self.assertEqual(result(self.door().send(
            "POST", "/Policies", {"PartitionKey": "a", "RowKey": "1"}, query=table_sas(self.keys[0], "Policies", **terms))),
            (403, "AuthorizationPermissionMismatch"))
        self.assertEqual(set_policies(), (204, "OK"))
        wait_for("the end of the policy", lambda: use(**terms) == FAILED)
        for name, refused in (
            ("six", [identifier(str(n)) for n in range(6)]), ("an unknown permission", [identifier("a", "<Permission>w</Permission>")]),
            ("no XML", ["<"]), ("an entity", ["&a;"]),
        ):
            with self.subTest(name):
                self.assertEqual(set_policies(*refused), (400, "InvalidXmlDocument"))
        self.assertEqual(result(door.send("GET", "/Nothing?comp=acl")), (404, "TableNotFound"))
        for query in (table_sas(self.keys[0], "Policies"), account_sas(self.keys[0])):
            for method in ("GET", "PUT"):
                reply = self.door().send(method, "/Policies?comp=acl", None if method == "GET" else "", query=query)
                self.assertEqual(result(reply), (403, "AuthorizationFailure"), reply.text)

    # ---- signatures of accounts

    def test_types_of_resources_and_permissions_of_an_account_signature(self):
        rest = self.rest_operations()
        needs = {
            "query": ("o", "r"), "get": ("o", "r"), "insert": ("o", "a"), "replace": ("o", "u"), "merge": ("o", "u"),
            "insert or replace": ("o", "au"), "insert or merge": ("o", "au"), "delete": ("o", "d"),
            "list tables": ("sc", "l"), "get table": ("sc", "l"), "create table": ("c", "cw"), "delete table": ("c", "d"),
        }
        either = {"create table"}
        for name, (types, letters) in needs.items():
            if name == "delete table":
                continue
            for resource in "sco":
                for letter in ("rwdlacu", "r", "w", "d", "l", "a", "c", "u", "au"):
                    allowed = resource in types and (
                        any(one in letter for one in letters) if name in either else all(one in letter for one in letters))
                    want = "OK" if allowed else (
                        "AuthorizationPermissionMismatch" if resource in types else "AuthorizationResourceTypeMismatch")
                    with self.subTest(f"{name} with {resource} {letter}"):
                        self.prepare(name, "c")
                        if name == "create table" and allowed:
                            self.door(self.keys[0]).send("DELETE", "/Tables('New')")
                        reply = rest[name](account_sas(self.keys[0], letter, resources=resource), "c")
                        self.assertEqual(reply.code(), want, reply.text)

    def test_fields_of_an_account_signature(self):
        key = self.keys[0]
        cases = {
            "good": (account_sas(key), (200, "OK")),
            "a later version": (account_sas(key, version="2020-12-06"), (200, "OK")),
            "of several services": (account_sas(key, services="btqf"), (200, "OK")),
            "of another service": (account_sas(key, services="bqf"), (403, "AuthorizationServiceMismatch")),
            "of no service": (account_sas(key, services=""), (403, "AuthorizationServiceMismatch")),
            "of no type": (account_sas(key, resources=""), FAILED),
            "expired": (account_sas(key, expiry=-1), FAILED),
            "of another account": (account_sas(key, account="globex"), FAILED),
            "from elsewhere": (account_sas(key, source="10.0.0.1"), (403, "AuthorizationSourceIPMismatch")),
            "more types than signed": (account_sas(key, resources="s", srt="sco"), FAILED),
        }
        for name, (query, want) in cases.items():
            with self.subTest(name):
                reply = self.door().send("GET", "/" + KEY, query=query)
                self.assertEqual(result(reply), want, reply.text)


class Development(unittest.TestCase):
    """A server without authentication checks what is signed for the development account, and nothing else."""

    def test_the_development_account(self):
        port = free_port()
        with Stack() as stack:
            stack.start_server(TAVOLA_HTTP_LISTEN=f"127.0.0.1:{port}")
            wait_for("the door", lambda: stack.accepts(f"127.0.0.1:{port}"))
            door = Door(port, DEVELOPMENT_KEY, account=DEVELOPMENT_ACCOUNT)
            self.assertEqual(result(door.send("POST", "/Tables", {"TableName": "People"})), (201, "OK"))
            self.assertEqual(result(Door(port, account=DEVELOPMENT_ACCOUNT).send("GET", "/Tables")), (200, "OK"))
            self.assertEqual(result(Door(port, b"other", account=DEVELOPMENT_ACCOUNT).send("GET", "/Tables")), FAILED)
            self.assertEqual(result(Door(port, b"other", account="default").send("GET", "/Tables")), (200, "OK"))
            self.assertEqual(result(Door(port, b"other", account="acme").send("GET", "/Tables")), (404, "ResourceNotFound"))
            reading = table_sas(DEVELOPMENT_KEY, "People", "r", account=DEVELOPMENT_ACCOUNT)
            unsigned = Door(port, account=DEVELOPMENT_ACCOUNT)
            self.assertEqual(result(unsigned.send("GET", "/People()", query=reading)), (200, "OK"))
            self.assertEqual(result(unsigned.send("GET", "/Tables", query=reading)), (403, "AuthorizationFailure"))


if __name__ == "__main__":
    unittest.main()
