"""What a feature costs: the same loads to a server that has it, beside one that has not.

One feature is one entry: the server's settings, what the load adds to its calls, and what it is measured with.
"""

import dataclasses
import subprocess

from rows import Row


@dataclasses.dataclass
class Feature:
    name: str
    settings: dict = dataclasses.field(default_factory=dict)  # "{folder}" stands for the bench's folder
    options: tuple = ()
    health: dict = dataclasses.field(default_factory=dict)  # what `tavola health` needs to reach it
    loads: tuple = ("get 64", "upsert 256")


FEATURES = [
    Feature("TLS", {"TAVOLA_TLS_CERT": "{folder}/server.pem", "TAVOLA_TLS_KEY": "{folder}/server.key"},
            ("tls={folder}/server.pem",), {"TAVOLA_CA": "{folder}/server.pem"}),
    Feature("request_id", options=("request-id",), loads=("upsert 256",)),
]

_COSTS = (("server_us", "server CPU"), ("postgres_us", "PostgreSQL CPU"))

ROWS = [
    Row(f"cost of {feature.name}, {load}, {title}", (f"{load}, {feature.name}", figure), (load, figure), "<=", unit="us")
    for feature in FEATURES for load in feature.loads for figure, title in _COSTS
]


def with_servers():
    """Those that are a matter of the server's settings."""
    return [feature for feature in FEATURES if feature.settings]


class Features:
    def __init__(self, product):
        self.product = product
        self.stack = product.stack

    def filled(self, text):
        return text.replace("{folder}", self.stack.folder)

    def prepare(self, **more):
        """more: settings of all their servers."""
        self.make_certificate()
        for feature in with_servers():
            settings = {name: self.filled(value) for name, value in feature.settings.items()}
            health = {name: self.filled(value) for name, value in feature.health.items()}
            self.stack.start_server(feature.name, health=health, **settings | more)

    def make_certificate(self):
        """Signed by itself: authority and server in one."""
        folder = self.stack.folder
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                   "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
                   "-keyout", f"{folder}/server.key", "-out", f"{folder}/server.pem"]
        subprocess.run(command, check=True, capture_output=True)

    def measure(self, feature, load):
        product = self.product
        method, path, in_flight = {
            "get 64": ("GetEntity", product.get_uniform, 64),
            "upsert 256": ("InsertOrReplaceEntity", product.upsert_uniform, 256),
        }[load]
        server = feature.name if feature.settings else "tavolad"
        options = [self.filled(option) for option in feature.options]
        return product.loads.call(method, path, in_flight, *options, server=server)

    def measurements(self):
        return {f"{load}, {feature.name}": lambda feature=feature, load=load: self.measure(feature, load)
                for feature in FEATURES for load in feature.loads}
