# SPDX-License-Identifier: Apache-2.0
"""Requests to the Azure Tables door, signed as its documentation says: with an account's key, or with signatures in the query."""

import base64
import hashlib
import hmac
import http.client
import itertools
import json
import time
import urllib.parse
from email.utils import formatdate

VERSION = "2019-02-02"
DEVELOPMENT_ACCOUNT = "devstoreaccount1"
DEVELOPMENT_KEY = base64.b64decode("Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==")


def signature(key, content):
    return base64.b64encode(hmac.new(key, content.encode(), hashlib.sha256).digest()).decode()


def iso(offset):
    """A time so many seconds from now."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + offset))


def query_of(fields, sig):
    return urllib.parse.urlencode({**{name: value for name, value in fields.items() if value}, "sig": sig})


def table_sas(key, table, permissions="raud", account="acme", expiry=600, start=None, policy="", source="", protocol="",
              low=(), high=(), version=VERSION, **changed):
    """The query of a signature. low, high: one or two keys. changed: parameters as they are sent, not as they are signed."""
    low, high = (*low, "", "")[:2], (*high, "", "")[:2]
    fields = {
        "sp": permissions, "st": iso(start) if start is not None else "", "se": iso(expiry) if expiry is not None else "",
        "tn": table, "si": policy, "sip": source, "spr": protocol, "sv": version,
        "spk": low[0], "srk": low[1], "epk": high[0], "erk": high[1],
    }
    signed = {**fields, "tn": f"/table/{account}/{table.lower()}"}
    return query_of({**fields, **changed}, signature(key, "\n".join(signed.values())))


def account_sas(key, permissions="rwdlacu", services="t", resources="sco", account="acme", expiry=600, start=None,
                source="", protocol="", version=VERSION, **changed):
    fields = {
        "sp": permissions, "ss": services, "srt": resources, "st": iso(start) if start is not None else "", "se": iso(expiry),
        "sip": source, "spr": protocol, "sv": version,
    }
    scope = [""] if version >= "2020-12-06" else []
    content = "".join(value + "\n" for value in (account, *fields.values(), *scope))
    return query_of({**fields, **changed}, signature(key, content))


class Reply:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()

    def code(self):
        return self.headers["x-ms-error-code"] or "OK"


class Door:
    """The door of one account at 127.0.0.1:port. key: signs requests; None: they are sent as they are."""

    def __init__(self, port, key=None, account="acme", scheme="SharedKey"):
        self.port, self.key, self.account, self.scheme = port, key, account, scheme

    def authorization(self, method, path, headers):
        path, _, query = path.partition("?")
        comp = urllib.parse.parse_qs(query).get("comp")
        resource = f"/{self.account}{path}" + (f"?comp={comp[0]}" if comp else "")
        parts = [headers["x-ms-date"], resource]
        if self.scheme == "SharedKey":
            parts = [method, headers.get("Content-MD5", ""), headers.get("Content-Type", ""), *parts]
        return f"{self.scheme} {self.account}:{signature(self.key, chr(10).join(parts))}"

    def send(self, method, path, body=None, query="", **headers):
        """path behind the account; the names of headers with _ for -"""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named.setdefault("x-ms-version", VERSION)
        named.setdefault("x-ms-date", formatdate(usegmt=True))
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
            named.setdefault("Content-Type", "application/json")
        path = f"/{self.account}{path}" + (("&" if "?" in path else "?") + query if query else "")
        if self.key:
            named.setdefault("Authorization", self.authorization(method, path, named))
        return self.raw(method, path, body, {name: value for name, value in named.items() if value is not None})

    def raw(self, method, path, body, headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers)
            return Reply(connection.getresponse())
        finally:
            connection.close()


def subsets(letters):
    """Every subset of the letters, in their order."""
    return ["".join(some) for count in range(len(letters) + 1) for some in itertools.combinations(letters, count)]


# ---- the content of a $batch ----

BATCH_TYPE = "multipart/mixed; boundary=batch_1"


def request(method, url, body=None, **headers):
    """One request of a $batch."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        named.setdefault("Content-Type", "application/json")
    lines = [f"{method} {url} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items()), "", json.dumps(body) if body else ""]
    return "\r\n".join(lines)


def part(content, content_id=None):
    head = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
    return head + (f"Content-ID: {content_id}\r\n" if content_id else "") + "\r\n" + content


def change_set(*requests):
    """A $batch that writes all of these, or none."""
    parts = "".join(f"--changeset_1\r\n{part(one)}\r\n" for one in requests)
    return f"--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n{parts}--changeset_1--\r\n--batch_1--\r\n"


def single(content):
    """A $batch with one request outside of a change set."""
    return f"--batch_1\r\n{part(content)}\r\n--batch_1--\r\n"
