#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copy a table from an Azure account, an emulator or another Tavola to a Tavola, over the REST protocol of Azure Tables.

usage: migrate.py [--state FILE] [--only-verify] TABLE

SOURCE and TARGET in the environment are connection strings, as Azure's portal and `./dev run` print them. Entities are copied page by
page; behind each page the state file says where the next one begins, so that a copy that was interrupted goes on there. Each
entity is inserted or replaced, so a page that is copied twice is the same. At the end both tables are read once more, and their
counts and digests are compared: exit code 1 if they differ, which they do if the source was written to meanwhile.

Types are kept exactly: a whole Edm.Double stays one, since numbers are written as they were read. So is, from another Tavola, the
time at which an entity expires: the member tavola.expires, which no other service sends.
"""

import argparse
import base64
import email.utils
import hashlib
import hmac
import http.client
import itertools
import json
import os
import re
import sys
import time
import urllib.parse

OPERATIONS, BATCH_BYTES = 100, 3_500_000  # of a change set
ATTEMPTS = 6
VERSION = "2019-02-02"
DEVELOPMENT = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey="
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"
)


class Refused(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text[:500]}")
        self.status = status


class Account:
    """One account, by its connection string: with a key, or with a shared access signature."""

    def __init__(self, text):
        text = DEVELOPMENT if text == "UseDevelopmentStorage=true" else text
        parts = dict(part.split("=", 1) for part in text.split(";") if part)
        self.name = parts.get("AccountName", "")
        self.key = base64.b64decode(parts["AccountKey"]) if "AccountKey" in parts else None
        self.signature = parts.get("SharedAccessSignature", "").lstrip("?")
        suffix = parts.get("EndpointSuffix", "core.windows.net")
        endpoint = parts.get("TableEndpoint") or f"{parts.get('DefaultEndpointsProtocol', 'https')}://{self.name}.table.{suffix}"
        self.url = urllib.parse.urlsplit(endpoint.rstrip("/"))
        self.connection = None

    def open(self):
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        self.connection = self.connection or kind(self.url.netloc, timeout=60)
        return self.connection

    def headers(self, path, more):
        headers = {"x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": VERSION, "Accept": "application/json;odata=minimalmetadata", **more}
        if self.key:
            signed = f"{headers['x-ms-date']}\n/{self.name}{path}"
            code = base64.b64encode(hmac.new(self.key, signed.encode(), hashlib.sha256).digest()).decode()
            headers["Authorization"] = f"SharedKeyLite {self.name}:{code}"
        return headers

    def send_once(self, method, path, query, body, more):
        query = "&".join(part for part in (query, self.signature) if part)
        self.open().request(method, path + (f"?{query}" if query else ""), body, self.headers(path, more))
        reply = self.connection.getresponse()
        text = reply.read().decode()
        if reply.status >= 400:
            raise Refused(reply.status, text)
        return text, reply.headers

    def send(self, method, resource, query="", body=None, **more):
        """Sent again where the service is busy or the connection breaks: all requests here may be repeated."""
        path = f"{self.url.path}/{resource}"
        for attempt in itertools.count(1):
            try:
                return self.send_once(method, path, query, body, {name.replace("_", "-"): value for name, value in more.items()})
            except (OSError, http.client.HTTPException, Refused) as error:
                if attempt == ATTEMPTS or (isinstance(error, Refused) and error.status < 500):
                    raise
                self.connection.close()
                self.connection = None
                time.sleep(0.2 * 2**attempt)

    def create(self, table):
        try:
            self.send("POST", "Tables", body=json.dumps({"TableName": table}), Content_Type="application/json", Prefer="return-no-content")
        except Refused as error:
            if error.status != 409:
                raise

    def page(self, table, position):
        """A page of entities, and the position behind it; None: it was the last."""
        text, headers = self.send("GET", f"{table}()", urllib.parse.urlencode(position), x_tavola_expires="true")
        found = {name: headers[f"x-ms-continuation-{name}"] for name in ("NextPartitionKey", "NextRowKey")}
        position = {name: value for name, value in found.items() if value}
        return [plain(entity) for entity in json.loads(text)["value"]], position or None

    def pages(self, table, position):
        while position is not None:
            entities, position = self.page(table, position)
            yield entities, position


def plain(entity):
    """Without what the server has added."""
    return {name: value for name, value in entity.items() if not name.startswith("odata.") and not name.startswith("Timestamp")}


# ---- writing ----


def path_of(table, entity):
    keys = (urllib.parse.quote(entity[name].replace("'", "''"), safe="") for name in ("PartitionKey", "RowKey"))
    return "{}(PartitionKey='{}',RowKey='{}')".format(table, *keys)


def change_sets(entities):
    """Entities of one partition, as many as a change set may have."""
    for _, group in itertools.groupby(entities, key=lambda entity: entity["PartitionKey"]):
        some, size = [], 0
        for entity in group:
            text = json.dumps(entity)
            if some and (len(some) == OPERATIONS or size + len(text) > BATCH_BYTES):
                yield some
                some, size = [], 0
            some.append((entity, text))
            size += len(text) + 500
        yield some


def batch_of(target, table, some):
    lines = ["--batch_copy", "Content-Type: multipart/mixed; boundary=changeset_copy", ""]
    for entity, text in some:
        url = f"{target.url.geturl()}/{path_of(table, entity)}"
        lines += ["--changeset_copy", "Content-Type: application/http", "Content-Transfer-Encoding: binary", "", f"PUT {url} HTTP/1.1",
                  "Content-Type: application/json", "Accept: application/json;odata=minimalmetadata", "", text]
    return "\r\n".join([*lines, "--changeset_copy--", "--batch_copy--", ""])


def write(target, table, entities):
    for some in change_sets(entities):
        text, _ = target.send("POST", "$batch", body=batch_of(target, table, some), Content_Type="multipart/mixed; boundary=batch_copy")
        answers = re.findall(r"HTTP/1\.1 (\d+)", text)
        if answers != ["204"] * len(some):
            raise Refused(int(answers[0]) if answers else 500, text)


# ---- verifying ----


def canonical(entity):
    """The same text for the same entity, whichever server has it: Guids and times have more than one form."""
    values = dict(entity)
    for name, kind in entity.items():
        if name.endswith("@odata.type") and kind == "Edm.Guid":
            values[name.removesuffix("@odata.type")] = entity[name.removesuffix("@odata.type")].lower()
        if name.endswith("@odata.type") and kind == "Edm.DateTime":
            text = entity[name.removesuffix("@odata.type")].rstrip("Z")
            values[name.removesuffix("@odata.type")] = text.rstrip("0").rstrip(".") if "." in text else text
    return json.dumps({name: value for name, value in values.items() if value is not None}, sort_keys=True)


def digest(account, table):
    """The number of entities, and a digest that does not depend on their order."""
    count = total = 0
    for entities, _ in account.pages(table, {}):
        count += len(entities)
        for entity in entities:
            total += int.from_bytes(hashlib.sha256(canonical(entity).encode()).digest(), "big")
    return count, f"{total % 2**256:064x}"


# ---- the whole ----


def copy(source, target, table, state):
    position, done = {}, 0
    if os.path.exists(state):
        with open(state, encoding="utf-8") as file:
            position, done = json.load(file)
        print(f"goes on behind {done} entities")
    target.create(table)
    for entities, position in source.pages(table, position):
        write(target, table, entities)
        done += len(entities)
        with open(state + ".new", "w", encoding="utf-8") as file:
            json.dump([position, done], file)
        os.replace(state + ".new", state)
        print(f"copied {done}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("table")
    parser.add_argument("--state", metavar="FILE", help="where to go on; TABLE.migration if it is not given")
    parser.add_argument("--only-verify", action="store_true", help="compare, and copy nothing")
    options = parser.parse_args()
    source, target = Account(os.environ["SOURCE"]), Account(os.environ["TARGET"])
    if not options.only_verify:
        copy(source, target, options.table, options.state or f"{options.table}.migration")
    ours, theirs = digest(target, options.table), digest(source, options.table)
    print(f"source: {theirs[0]} entities, digest {theirs[1][:16]}\ntarget: {ours[0]} entities, digest {ours[1][:16]}")
    if ours != theirs:
        sys.exit("the tables differ")
    print("the tables are equal")


if __name__ == "__main__":
    main()
