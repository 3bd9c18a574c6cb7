# SPDX-License-Identifier: Apache-2.0
"""The REST protocol of Azure Tables: our door beside Azurite, with the same requests from h2load, over HTTP/1.1."""

import base64
import datetime
import hashlib
import hmac
import json
import re
import urllib.parse
import urllib.request

import wire
from loads import _checked
from rows import Row
from tavola_test.ports import free_port

IN_FLIGHT = (32, 1)
KEYS = 1000  # as many as a page has
OPERATIONS = 100  # of a batch

# Every emulator of this API has this account; it is in its documentation.
_ACCOUNT = "devstoreaccount1"
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

_DURABLE = "Azurite keeps all in memory and writes it to disk now and then; the same client for both"

_CALLS = (("get", "Get", 8), ("upsert", "Upsert", 8), ("page", "page of 1,000", 5), ("batch", "$batch of 100", 10))

ROWS = [
    Row(f"REST: {title} / Azurite, {n} in flight", (f"rest {name} {n}", "rate"), (f"azurite {name} {n}", "rate"), must=must,
        aim=20, note=_DURABLE)
    for n in IN_FLIGHT for name, title, must in _CALLS
] + [
    Row("REST: Get, client h2load / gRPC Get, lean client", ("rest get 32", "rate"), ("get 32", "rate"), must=0.5, aim=0.8,
        note="h2load takes more of the processors than the lean client of gRPC"),
    Row("JSON: Get, client h2load / gRPC Get, lean client", ("json get 32", "rate"), ("get 32", "rate"), must=0.5, aim=0.8,
        note="as GET, so that h2load can ask for 1,000 different keys"),
    Row("JSON: upsert, client h2load / gRPC upsert, lean client", ("json upsert 32", "rate"), ("upsert 32", "rate"), must=0.5,
        aim=0.8, note="h2load sends one body, so all calls write one entity"),
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


class Rest:
    """A server of the protocol with a table Bench, whose entities all have been written once."""

    def __init__(self, product, name, port):
        self.product, self.name = product, name
        self.base = f"http://127.0.0.1:{port}/{_ACCOUNT}"
        self.query = _signature()
        properties = "{" + ", ".join(f'"Prop{i}": "{"x" * 24}"' for i in range(7)) + "}"
        self.paths = [f"/Bench(PartitionKey='p{key // 100}',RowKey='r{key}')" for key in range(wire.FIRST, wire.FIRST + KEYS)]
        self.body = product.text(f"{name}-body", properties)
        self.batch_body = product.text(f"{name}-batch", _batch(properties))
        self.addresses = product.text(f"{name}-addresses", "".join(self.address(path) + "\n" for path in self.paths))

    def fill(self):
        self.request("POST", "/Tables", b'{"TableName": "Bench"}')
        with open(self.body, "rb") as body:
            properties = body.read()
        for path in self.paths:
            self.request("PUT", path, properties)

    def address(self, path):
        return f"{self.base}{path}{'&' if '?' in path else '?'}{self.query}"

    def request(self, method, path, body):
        headers = {"content-type": "application/json", "accept": "application/json;odata=nometadata"}
        urllib.request.urlopen(urllib.request.Request(self.address(path), body, headers, method=method)).read()

    def load(self, in_flight, *options):
        seconds = max(1, round(self.product.loads.seconds))
        command = ["h2load", "--h1", "-t1", f"-c{in_flight}", "-D", str(seconds)]
        command += ["-H", "accept: application/json;odata=nometadata", *options]

        def run():
            text = _checked(command)
            done, good = int(re.search(r"requests: (\d+) total", text)[1]), int(re.search(r"(\d+) 2xx", text)[1])
            if good < done:
                raise RuntimeError(f"{self.name} answers with errors:\n{text}")
            return {"calls": done, "seconds": float(re.search(r"finished in ([\d.]+)s", text)[1])}

        return self.product.loads.measured(run, "calls", self.name)

    # ---- the same server's methods as JSON ----

    def method(self, name):
        return f"{self.base.removesuffix('/' + _ACCOUNT)}/tavola.v1.EntityService/{name}"

    def json_get(self, in_flight):
        keys = [{"partitionKey": f"p{key // 100}", "rowKey": f"r{key}"} for key in range(wire.FIRST, wire.FIRST + KEYS)]
        messages = [json.dumps({"table": "Bench", "key": key}) for key in keys]
        lines = [f"{self.method('GetEntity')}?encoding=json&message={urllib.parse.quote(message)}\n" for message in messages]
        return self.load(in_flight, "-i", self.product.text(f"{self.name}-json-gets", "".join(lines)))

    def json_upsert(self, in_flight):
        properties = {f"Prop{i}": {"stringValue": "x" * 24} for i in range(7)}
        entity = {"partitionKey": f"p{wire.FIRST // 100}", "rowKey": f"r{wire.FIRST}", "properties": properties}
        body = self.product.text(f"{self.name}-json-upsert", json.dumps({"table": "Bench", "entity": entity}))
        return self.load(in_flight, "-H", "content-type: application/json", "-d", body, self.method("InsertOrReplaceEntity"))

    def get(self, in_flight):
        return self.load(in_flight, "-i", self.addresses)

    def upsert(self, in_flight):
        return self.load(in_flight, "-i", self.addresses, "-H", ":method: PUT", "-H", "content-type: application/json", "-d", self.body)

    def page(self, in_flight):
        return self.load(in_flight, self.address(f"/Bench()?$top={KEYS}"))

    def batch(self, in_flight):
        return self.load(in_flight, "-H", "content-type: multipart/mixed; boundary=batch_1", "-d", self.batch_body, self.address("/$batch"))


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
