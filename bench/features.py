# SPDX-License-Identifier: Apache-2.0
"""The cost of features: the same load on a server with the feature, beside one without it. A feature is one entry:
the server's settings, what the load adds to its calls, and the measurement. {certificate}, {token} and {sas} stand
for values that are made when they are needed.
"""

import dataclasses
import functools
import subprocess

import wire
from rows import Row
from tavola_test.processes import run_program

ACCOUNT = "default"
DAY = 86_400  # seconds


@dataclasses.dataclass
class Feature:
    name: str
    settings: dict = dataclasses.field(default_factory=dict)
    options: tuple = ()
    health: dict = dataclasses.field(default_factory=dict)  # what `tavola health` needs to reach it
    loads: tuple = ("get 64", "upsert 256")
    connects: bool = False  # measured per connection too
    table: str = ""  # the load goes to a table of its own, with a change feed


FEATURES = [
    Feature("TLS", {"TAVOLA_TLS_CERT": "{certificate}", "TAVOLA_TLS_KEY": "{certificate}"},
            ("tls={certificate}",), {"TAVOLA_CA": "{certificate}"},
            connects=True),
    Feature("authentication", {"TAVOLA_AUTHENTICATION": "required"}, ("header=authorization:Bearer {token}",),
            connects=True),
    Feature("SAS with a range", {"TAVOLA_AUTHENTICATION": "required"}, ("header=authorization:Bearer {sas}",)),
    Feature("metrics", {"TAVOLA_METRICS_LISTEN": "127.0.0.1:0"}),
    Feature("request_id", options=("request-id",), loads=("upsert 256",)),
    Feature("change feed", loads=("upsert 256",), table="Fed"),
]

_COSTS = (("server_us", "server CPU"), ("postgres_us", "PostgreSQL CPU"))

ROWS = [
    Row(f"cost of {feature.name}, {load}, {title}", (f"{load}, {feature.name}", figure), (load, figure), "<=", unit="us")
    for feature in FEATURES for load in feature.loads for figure, title in _COSTS
]


CONNECTING = [feature for feature in FEATURES if feature.connects]


class Features:
    def __init__(self, product):
        self.product = product
        self.stack = product.stack
        self.words = {"{certificate}": self.certificate, "{token}": self.token, "{sas}": self.sas}

    def filled(self, text):
        for name, make in self.words.items():
            if name in text:
                text = text.replace(name, make())
        return text

    def serve(self, feature):
        """The name of a server with the feature: the shared one, or one that is started now."""
        if not feature.settings:
            return self.product.server
        if feature.name not in self.stack.children:
            settings = {name: self.filled(value) for name, value in feature.settings.items()}
            health = {name: self.filled(value) for name, value in feature.health.items()}
            self.stack.start_server(feature.name, health=health, **settings, TAVOLA_POSTGRES=self.product.postgres)
        return feature.name

    def close(self):
        for feature in FEATURES:
            self.stack.stop(feature.name)

    def call(self, feature, method, path, in_flight, *options):
        # Credentials come first, because a server reads accounts from time to time only.
        options = [*options, *map(self.filled, feature.options)]
        return self.product.loads.call(method, path, in_flight, *options, server=self.serve(feature))

    @functools.cache
    def certificate(self):
        """A file with a key and a certificate signed by it: authority and server in one."""
        path = f"{self.stack.folder}/server.pem"
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                   "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
                   "-keyout", f"{path}.key", "-out", f"{path}.crt"]
        subprocess.run(command, check=True, capture_output=True)
        with open(f"{path}.crt", encoding="ascii") as certificate, open(f"{path}.key", encoding="ascii") as key:
            self.product.text("server.pem", certificate.read() + key.read())
        return path

    @functools.cache
    def key(self):
        """For the account that all callers have without authentication, and that owns the tables."""
        made = self.tavola("account", "create", ACCOUNT, TAVOLA_POSTGRES=self.product.postgres)
        return next(line.split()[-1] for line in made.splitlines() if line.startswith("first key"))

    @functools.cache
    def token(self):
        return self.tavola("token", "create", ACCOUNT, str(DAY), TAVOLA_ACCOUNT_KEY=self.key())

    @functools.cache
    def sas(self):
        return self.tavola("sas", "create", ACCOUNT, "Bench", "--permissions", "rau", "--expiry", f"+{DAY}",
                           "--start-partition", "p1", "--end-partition", "p9", TAVOLA_ACCOUNT_KEY=self.key())

    def tavola(self, *words, **settings):
        done = run_program("tavola", *words, settings=settings)
        if done.returncode != 0:
            raise RuntimeError(f"tavola {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout.strip()

    @functools.cache
    def upserts_with_feed(self, table):
        """The requests of the upserts, for a table that holds their keys and keeps a change feed."""
        product = self.product
        product.once("/tavola.v1.TableService/CreateTable", wire.create_table(table, change_feed=True))
        product.once("ImportEntities", wire.import_(table, range(wire.FIRST, wire.FIRST + wire.COUNT)), 2, "stream")
        product.sql("truncate changes")
        product.sql("vacuum analyze entities")
        return product.file("upsert-" + table, wire.write(table, wire.uniform(20_000)))

    def measure(self, feature, load):
        product = self.product
        if feature.table:
            try:
                return self.call(feature, "InsertOrReplaceEntity", self.upserts_with_feed(feature.table), 256)
            finally:
                product.sql("truncate changes")
        method, path, in_flight = {
            "get 64": ("GetEntity", product.get_uniform, 64),
            "upsert 256": ("InsertOrReplaceEntity", product.upsert_uniform, 256),
        }[load]
        return self.call(feature, method, path, in_flight)

    def measurements(self):
        return {f"{load}, {feature.name}": lambda feature=feature, load=load: self.measure(feature, load)
                for feature in FEATURES for load in feature.loads}
