# SPDX-License-Identifier: Apache-2.0
"""Tokens and shared access signatures, implemented a second time, so that tests can make valid and invalid ones."""

import base64
import hashlib
import hmac
import ipaddress
import time

from tavola_test import client

TICKS_1970 = 116444736000000000
PERMISSIONS = "raudit"


def ticks(seconds_from_now):
    return TICKS_1970 + int((time.time() + seconds_from_now) * 10_000_000)


def text(content):
    content = content if isinstance(content, bytes) else content.encode()
    return client.varint(len(content)) + content


def encode(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode(encoded):
    return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))


def key_of(printed):
    """The bytes of a key as `tavola account` prints it."""
    assert printed.startswith("tvk1.")
    return decode(printed[5:])


def sign(prefix, fields, key, algorithm=hashlib.sha256):
    return prefix + encode(fields + hmac.new(key, prefix.encode() + fields, algorithm).digest())


def token(key, account="acme", issued=0, expiry=600):
    return sign("tvt1.", text(account) + client.varint(ticks(issued)) + client.varint(ticks(expiry)), key)


def address(spoken):
    number = ipaddress.ip_address(spoken)
    return (b"\0" * 10 + b"\xff\xff" if number.version == 4 else b"") + number.packed


def permission_bits(letters):
    return sum(1 << PERMISSIONS.index(letter) for letter in letters)


def sas_fields(table, permissions="raud", account="acme", issued=0, start=None, expiry=600, policy=None,
               source=None, low=None, high=None, tls_only=False):
    """source: two addresses; low: two keys; high: one or two keys."""
    parts = [
        start is not None and client.varint(ticks(start)),
        expiry is not None and client.varint(ticks(expiry)),
        bool(permissions) and client.varint(permission_bits(permissions)),
        policy is not None and text(policy),
        source is not None and address(source[0]) + address(source[1]) if source else False,
        low is not None and text(low[0]) + text(low[1]),
        high is not None and text(high[0]),
        high is not None and len(high) > 1 and text(high[1]),
    ]
    flags = sum(1 << i for i, part in enumerate(parts) if part) | tls_only << len(parts)
    head = text(account) + text(table) + client.varint(ticks(issued)) + client.varint(flags)
    return head + b"".join(part for part in parts if part)


def sas(key, table, **fields):
    return sign("tvs1.", sas_fields(table, **fields), key)
