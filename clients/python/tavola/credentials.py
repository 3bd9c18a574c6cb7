# SPDX-License-Identifier: Apache-2.0
"""Tokens and shared access signatures, made without a server (docs/signatures.md).

A key never leaves the process: only what it has signed does.
"""

import base64
import datetime as dt
import hashlib
import hmac
import ipaddress
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Optional, Union

TICKS = 10_000_000  # per second, from 1601-01-01 on
TICKS_EPOCH = dt.datetime(1601, 1, 1, tzinfo=dt.timezone.utc)
PERMISSIONS = "raudit"
HASH_BYTES = 32
START, EXPIRY, PERMITTED, POLICY, SOURCE, LOW, HIGH, HIGH_ROW, TLS = (1 << bit for bit in range(9))


def _ticks(when: dt.datetime) -> int:
    if when.tzinfo is None:
        raise ValueError(f"{when.isoformat()} has no time zone: datetime.now(timezone.utc) has one")
    since = when - TICKS_EPOCH
    return (since.days * 86400 + since.seconds) * TICKS + since.microseconds * 10


def _time(ticks: int) -> dt.datetime:
    return TICKS_EPOCH + dt.timedelta(microseconds=ticks // 10)


def _varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def _text(text: str) -> bytes:
    return _varint(len(text.encode())) + text.encode()


def _source(text: str) -> bytes:
    """Both ends of a range of addresses. ValueError: none, or a range of two kinds, or one that ends before it begins."""
    low, _, high = text.partition("-")
    ends = [ipaddress.ip_address(low), ipaddress.ip_address(high or low)]
    if ends[0].version != ends[1].version or ends[1] < ends[0]:
        raise ValueError(f"source {text!r}: two addresses of one kind, the lower one first")
    return b"".join(end.packed if end.version == 6 else bytes(10) + b"\xff\xff" + end.packed for end in ends)


def _name(text: str, pattern: str, what: str) -> str:
    if not re.fullmatch(pattern, text):
        raise ValueError(f"{text!r} is not {what}")
    return text


def _account(text: str) -> bytes:
    return _text(_name(text, "[a-z0-9]{3,63}", "the name of an account: 3 to 63 lower-case letters and digits"))


def _key(text: str) -> bytes:
    if re.search(r"[/\\#?\x00-\x1f\x7f-\x9f]", text) or len(text.encode("utf-16-le")) > 1024:
        raise ValueError(f"{text!r} cannot be a key: 512 characters without / \\ # ? and control characters")
    return _text(text)


def _permissions(letters: str) -> int:
    """Bits of letters out of `raudit`, in this order. ValueError otherwise."""
    at, bits = 0, 0
    for letter in letters:
        found = PERMISSIONS.find(letter, at)
        if found < 0:
            raise ValueError(f"permissions {letters!r}: letters out of {PERMISSIONS}, in this order, each once")
        at, bits = found + 1, bits | 1 << found
    return bits


@dataclass(frozen=True)
class Signature:
    """What a shared access signature says. Times have a zone; None and empty texts are not set.

    table            the table's name, in any case
    permissions      letters out of `raudit`: read, add, update, delete, look up, transactions
    expiry, start    valid until, and from then on
    policy           the id of a stored access policy of the table, which then sets the expiry, the permissions, or both
    source           an address, or two with `-` between them: the callers that may use it
    start_partition, start_row, end_partition, end_row   a range of keys, ends included
    protocol         tls: it opens nothing in plain text
    """

    table: str
    permissions: str = ""
    expiry: Optional[dt.datetime] = None
    start: Optional[dt.datetime] = None
    policy: str = ""
    source: str = ""
    start_partition: Optional[str] = None
    start_row: str = ""
    end_partition: Optional[str] = None
    end_row: Optional[str] = None
    protocol: str = "any"

    def _check(self) -> None:
        _name(self.table, "[A-Za-z][A-Za-z0-9]{2,62}", "the name of a table: 3 to 63 letters and digits, a letter first")
        _name(self.protocol, "any|tls", "a protocol: any, tls")
        _name(self.policy, "[ -~]{0,64}", "the id of a policy: 1 to 64 printable ASCII characters")
        if not self.policy and not (self.expiry and self.permissions):
            raise ValueError("without a stored policy, expiry and permissions must be given")
        if self.start_row and self.start_partition is None:
            raise ValueError("a start row key needs a start partition key")
        if self.end_row is not None and self.end_partition is None:
            raise ValueError("an end row key needs an end partition key")
        if self.start and self.expiry and self.expiry <= self.start:
            raise ValueError("the start lies after the expiry")

    def fields(self, account: str, issued: int) -> bytes:
        """The bytes that are signed, without the prefix. ValueError says what no server would accept."""
        self._check()
        parts = {
            START: self.start and _varint(_ticks(self.start)),
            EXPIRY: self.expiry and _varint(_ticks(self.expiry)),
            PERMITTED: self.permissions and _varint(_permissions(self.permissions)),
            POLICY: self.policy and _text(self.policy),
            SOURCE: self.source and _source(self.source),
            LOW: self.start_partition is not None and _key(self.start_partition) + _key(self.start_row),
            HIGH: self.end_partition is not None and _key(self.end_partition),
            HIGH_ROW: self.end_row is not None and _key(self.end_row),
        }
        flags = sum(flag for flag, part in parts.items() if part) + (TLS if self.protocol == "tls" else 0)
        head = _account(account) + _text(self.table.lower()) + _varint(issued) + _varint(flags)
        return head + b"".join(part for part in parts.values() if part)


def _signed(prefix: str, fields: bytes, key: bytes) -> str:
    mark = hmac.new(key, prefix.encode() + fields, hashlib.sha256).digest()
    return prefix + base64.urlsafe_b64encode(fields + mark).rstrip(b"=").decode()


@dataclass(frozen=True)
class Account:
    """An account and one of its keys, as `tavola account create` prints it. ValueError: not a key.

    Client(token=Account("acme", key)) signs a token for 15 minutes whenever the one before is about to end.
    """

    name: str
    key: str

    def __post_init__(self) -> None:
        self._bytes()

    def __repr__(self) -> str:
        return f"Account({self.name!r}, key=...)"

    def _bytes(self) -> bytes:
        prefix, text = self.key[:5], self.key[5:]
        try:
            found = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except ValueError:
            found = b""
        if prefix != "tvk1." or len(found) != 32:
            raise ValueError("not a key of an account: tvk1. and 43 characters, as `tavola account create` prints it")
        return found

    def token(self, seconds: float = 900, *, issued: Optional[dt.datetime] = None) -> str:
        """A token for everything the account has, for at most 86,400 seconds."""
        if not 0 < seconds <= 86400:
            raise ValueError(f"a token of {seconds} s: 1 to 86,400 are allowed")
        begun = _ticks(issued or dt.datetime.now(dt.timezone.utc))
        fields = _account(self.name) + _varint(begun) + _varint(begun + round(seconds * TICKS))
        return _signed("tvt1.", fields, self._bytes())

    def sign(self, signature: Signature, *, issued: Optional[dt.datetime] = None) -> str:
        """A shared access signature. ValueError: one that no server would accept."""
        begun = _ticks(issued or dt.datetime.now(dt.timezone.utc))
        return _signed("tvs1.", signature.fields(self.name, begun), self._bytes())

    def __call__(self) -> str:
        return self.token()


# What Client takes as its token: a text, or what makes one (an Account, or any function without parameters).
Token = Union[str, Callable[[], str]]


def _read_varint(rest: bytes) -> tuple[int, bytes]:
    number = 0
    for at, byte in enumerate(rest[:10]):
        number |= (byte & 0x7F) << 7 * at
        if byte < 0x80:
            return number, rest[at + 1:]
    raise ValueError("not a credential")


def lifetime_of(text: str) -> Optional[tuple[float, float]]:
    """(issued, expiry) of a token or signature in seconds since 1970; None if its policy sets the expiry, or it is no credential."""
    try:
        fields = base64.urlsafe_b64decode(text[5:] + "=" * (-len(text[5:]) % 4))[:-HASH_BYTES]
        length, rest = _read_varint(fields)
        rest = rest[length:]
        if text.startswith("tvs1."):
            length, rest = _read_varint(rest)
            issued, rest = _read_varint(rest[length:])
            flags, rest = _read_varint(rest)
            if not flags & EXPIRY:
                return None
            if flags & START:
                _, rest = _read_varint(rest)
            expiry, _ = _read_varint(rest)
        else:
            issued, rest = _read_varint(rest)
            expiry, _ = _read_varint(rest)
    except ValueError:
        return None
    return _time(issued).timestamp(), _time(expiry).timestamp()


class Renewing:
    """The credential of a client: makes a new one when a third of the life of the last one is left."""

    def __init__(self, token: Optional[Token]):
        self._make = token if callable(token) else None
        self._text = None if callable(token) else token
        self._renew_at = 0.0
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return self._make is not None or bool(self._text)

    def text(self) -> Optional[str]:
        """The credential to send now. Thread-safe."""
        if self._make is None:
            return self._text
        with self._lock:
            if time.time() >= self._renew_at:
                self._text = self._make()
                life = lifetime_of(self._text)
                # One whose end cannot be read here is asked for anew each minute.
                self._renew_at = life[0] + (life[1] - life[0]) * 2 / 3 if life else time.time() + 60
            return self._text
