# SPDX-License-Identifier: Apache-2.0
"""Read the metrics of a program."""

import http.client
import json
import os
import re
import socket

LINE = re.compile(r"^([a-zA-Z_][a-zA-Z0-9_]*)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'([a-z]+)="([^"]*)"')


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def get(path, url="/metrics", method="GET"):
    """Status, content type and text."""
    connection = UnixConnection(path)
    connection.request(method, url)
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply.status, reply.getheader("Content-Type"), text


class Sample:
    """All values at one moment, and the types of their families."""

    def __init__(self, text):
        self.values, self.types = {}, {}
        family = None
        for line in text.splitlines():
            if line.startswith("# HELP "):
                continue
            if line.startswith("# TYPE "):
                family, kind = line.split(" ")[2:]
                assert family not in self.types, f"{family} twice"
                self.types[family] = kind
                continue
            name, labels, value = LINE.match(line).groups()
            assert re.fullmatch(family + "(_bucket|_sum|_count)?", name), f"{name} under {family}"
            self.values[name, frozenset(LABEL.findall(labels or ""))] = float(value)

    def value(self, name, **labels):
        """The sum of all values with this name and these labels."""
        wanted = set(labels.items())
        return sum(value for (one, has), value in self.values.items() if one == name and wanted <= has)

    def labels(self):
        """The labels that each name has."""
        out = {}
        for name, has in self.values:
            out.setdefault(name, set()).update(label for label, _ in has)
        return out


def expressions(folder):
    """The expressions of the alerts and of the dashboard in this folder."""
    with open(os.path.join(folder, "alerts.yaml"), encoding="utf-8") as file:
        yield from re.findall(r"^\s+expr: (.*)$", file.read(), re.M)
    with open(os.path.join(folder, "dashboard.json"), encoding="utf-8") as file:
        for panel in json.load(file)["panels"]:
            yield from (target["expr"] for target in panel["targets"])


def used(expression):
    """The metrics of an expression, each with the labels that it is selected or grouped by."""
    grouped = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(", ")}
    for name, selector in re.findall(r"((?:tavola|process)_[a-z_]+)(?:\{([^}]*)\})?", expression):
        yield name, grouped | set(re.findall(r"([a-z]+)(?:=~|!~|!=|=)", selector))


def read(path):
    return Sample(get(path)[2])
