# SPDX-License-Identifier: Apache-2.0
"""The REST protocol of Azure Tables: our door beside Azurite, with the same requests from bench_h1_load, over HTTP/1.1."""

import base64
import datetime
import hashlib
import hmac
import json
import urllib.parse
import urllib.request

import wire
from loads import _checked, _words
from rows import Row
from tavola_test.ports import free_port
from tavola_test.processes import bench_program

IN_FLIGHT = (32, 1)
KEYS = 1000  # as many as a page has
OPERATIONS = 100  # of a batch

# Every emulator of this API has this account; it is in its documentation.
_ACCOUNT = "devstoreaccount1"
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

_DURABLE = "Azurite keeps all in memory and writes it to disk now and then; the same client for both"
_ALONE = "one caller waits for the database each time, and for its disk where it writes: see the rows of pgbench"

_CALLS = (("get", "Get", 8), ("upsert", "Upsert", 8), ("page", "page of 1,000", 5), ("batch", "$batch of 100", 10))

# What one caller could have at most: the same rows by one statement of pgbench, without a service between.
_FLOORS = (("get", "Get"), ("upsert", "Upsert"), ("page", "page of 1,000"), ("batch", "$batch of 100"))

_PAGE = f"""select partition_key, row_key, version, ts, properties from bench_rows
where table_id = 1 and (partition_key, row_key) >= ('p{wire.FIRST // 100}', '')
order by partition_key, row_key limit {KEYS};
"""

_BATCH = f"""insert into bench_rows as e (table_id, partition_key, row_key, bucket, version, ts, properties)
select 1, 'p' || k / 100, 'r' || k, 0, 1, 1, '\\x{"78" * 250}'::bytea
from generate_series({wire.FIRST}, {wire.FIRST + OPERATIONS - 1}) k
on conflict (table_id, partition_key, row_key, bucket) do update
set version = e.version + 1, ts = e.ts + 1, properties = excluded.properties returning version, ts;
"""

ROWS = [
    Row(f"REST: {title} / Azurite, {n} in flight", (f"rest {name} {n}", "rate"), (f"azurite {name} {n}", "rate"), must=must,
        aim=20, note=_DURABLE if n > 1 else _ALONE)
    for n in IN_FLIGHT for name, title, must in _CALLS
] + [
    Row(f"pgbench {title}, one client / Azurite {title}, 1 in flight", (f"pgbench {name} 1", "rate"),
        (f"azurite {name} 1", "rate"), note="no service on this database can be faster for one caller")
    for name, title in _FLOORS
] + [
    Row(f"REST: {title}, 1 in flight / pgbench {title}, one client", (f"rest {name} 1", "rate"),
        (f"pgbench {name} 1", "rate"))
    for name, title in _FLOORS
] + [
    Row(f"{form}: {title} / gRPC {title}, lean clients", (f"{form.lower()} {name} 32", "rate"), (f"{name} 32", "rate"), must=0.5,
        aim=0.8)
    for form, name, title in (("REST", "get", "Get"), ("REST", "upsert", "upsert"), ("JSON", "get", "Get"), ("JSON", "upsert", "upsert"))
]


def _signature():
    """A shared access signature for everything in the account, as a query."""
    end = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    fields = {"sv": "2018-03-28", "ss": "t", "srt": "sco", "sp": "rwdlacu", "se": end, "spr": "https,http"}
    order = [_ACCOUNT, fields["sp"], fields["ss"], fields["srt"], "", fields["se"], "", fields["spr"], fields["sv"], ""]
    signed = hmac.new(base64.b64decode(_KEY), "\n".join(order).encode(), hashlib.sha256)
    return urllib.parse.urlencode(fields | {"sig": base64.b64encode(signed.digest()).decode()})


def _batch(properties):
    """One change set that replaces the entities of one partition."""
    lines = ["--batch_1", "Content-Type: multipart/mixed; boundary=changeset_1", ""]
    for key in range(wire.FIRST, wire.FIRST + OPERATIONS):
        lines += ["--changeset_1", "Content-Type: application/http", "Content-Transfer-Encoding: binary", "",
                  f"PUT http://127.0.0.1/{_ACCOUNT}/Bench(PartitionKey='p{key // 100}',RowKey='r{key}') HTTP/1.1",
                  "Content-Type: application/json", "Accept: application/json;odata=nometadata", "", properties]
    return "\r\n".join([*lines, "--changeset_1--", "--batch_1--", ""])


def _keys():
    return [(f"p{key // 100}", f"r{key}") for key in range(wire.FIRST, wire.FIRST + KEYS)]


class Rest:
    """A server of the protocol with a table Bench, whose entities all have been written once."""

    def __init__(self, product, name, port):
        self.product, self.name, self.target = product, name, f"127.0.0.1:{port}"
        self.query = _signature()
        self.files = {}
        self.properties = json.dumps({f"Prop{i}": "x" * 24 for i in range(7)})
        self.paths = [f"/Bench(PartitionKey='{partition}',RowKey='{row}')" for partition, row in _keys()]

    def fill(self):
        self.request("POST", "/Tables", b'{"TableName": "Bench"}')
        for path in self.paths:
            self.request("PUT", path, self.properties.encode())

    def address(self, path):
        return f"/{_ACCOUNT}{path}{'&' if '?' in path else '?'}{self.query}"

    def request(self, method, path, body):
        headers = {"content-type": "application/json", "accept": "application/json;odata=nometadata"}
        address = f"http://{self.target}{self.address(path)}"
        urllib.request.urlopen(urllib.request.Request(address, body, headers, method=method)).read()

    def message(self, method, address, body="", content_type="application/json"):
        """A whole request, as it is sent."""
        lines = [f"{method} {address} HTTP/1.1", f"Host: {self.target}", "Accept: application/json;odata=nometadata"]
        lines += [f"Content-Type: {content_type}", f"Content-Length: {len(body)}"] if body else []
        return "\r\n".join([*lines, "", body]).encode()

    def load(self, name, messages, in_flight):
        """The requests again and again, over as many connections. Their file is made by the first load."""
        if name not in self.files:
            self.files[name] = self.product.file(f"{self.name}-{name}", messages())
        loads = self.product.loads
        command = [bench_program("bench_h1_load"), self.target, self.files[name], str(in_flight), str(loads.seconds)]
        return loads.measured(lambda: _words(_checked(command)), "calls", self.name)

    def get(self, in_flight):
        return self.load("get", lambda: [self.message("GET", self.address(path)) for path in self.paths], in_flight)

    def upsert(self, in_flight):
        return self.load(
            "upsert", lambda: [self.message("PUT", self.address(path), self.properties) for path in self.paths], in_flight)

    def page(self, in_flight):
        return self.load("page", lambda: [self.message("GET", self.address(f"/Bench()?$top={KEYS}"))], in_flight)

    def batch(self, in_flight):
        kind = "multipart/mixed; boundary=batch_1"
        return self.load(
            "batch", lambda: [self.message("POST", self.address("/$batch"), _batch(self.properties), kind)], in_flight)

    # ---- the same server's methods as JSON ----

    def method(self, name, message):
        return self.message("POST", f"/tavola.v1.EntityService/{name}", json.dumps(message))

    def json_get(self, in_flight):
        return self.load("json-get", lambda: [
            self.method("GetEntity", {"table": "Bench", "key": {"partitionKey": partition, "rowKey": row}})
            for partition, row in _keys()], in_flight)

    def json_upsert(self, in_flight):
        properties = {f"Prop{i}": {"stringValue": "x" * 24} for i in range(7)}
        return self.load("json-upsert", lambda: [
            self.method("InsertOrReplaceEntity", {
                "table": "Bench", "entity": {"partitionKey": partition, "rowKey": row, "properties": properties}})
            for partition, row in _keys()], in_flight)


def floors(product):
    """{name: script of pgbench}"""
    return {"get": product.pgbench_get, "upsert": product.pgbench_upsert,
            "page": product.text("pgbench-page", _PAGE), "batch": product.text("pgbench-batch", _BATCH)}


def start_azurite(product, folder):
    port = free_port()
    command = [f"{folder}/node_modules/.bin/azurite-table", "--silent", "--disableTelemetry", "--skipApiVersionCheck", "--location",
               f"{product.stack.folder}/azurite", "--tableHost", "127.0.0.1", "--tablePort", str(port)]
    product.stack.start("azurite", command, {}, "successfully started")
    azurite = Rest(product, "azurite", port)
    azurite.fill()
    return azurite


def start_door(product):
    """A server of its own on the product's database, whose table Bench is there."""
    port = free_port()
    product.stack.start_server("door", TAVOLA_HTTP_LISTEN=f"127.0.0.1:{port}")
    return Rest(product, "door", port)
