# SPDX-License-Identifier: Apache-2.0
"""Encryption by the client: properties that the service stores and cannot read. docs/client-encryption.md has the format.

Needs the package `cryptography` (Debian: python3-cryptography). A value is encrypted with a content key by AES-256-GCM, the content
key is wrapped with a key of a KeyRing or by a KeyCommand, and the value is bound to its account, table,
keys and property name, so that it cannot be moved. tests/vectors/encryption.json holds all clients to one format.
"""

import base64
import collections
import datetime as dt
import hashlib
import hmac
import os
import struct
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Optional, Union

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tavola import errors
from tavola.entity import Entity
from tavola.table import Table
from tavola.values import EPOCH, DateTime, Int32, Native

KEY_BYTES = 32
NONCE_BYTES, TAG_BYTES = 12, 16
FORMAT = 1  # the first byte of an encrypted value
CONTENT_KEY_VALUES = 2**20  # that one content key encrypts at most: far below 2**32, where random nonces begin to repeat
CONTENT_KEY_SECONDS = 300.0
REMEMBERED_KEYS = 1000  # content keys that are kept unwrapped

_KINDS = {"string": 1, "boolean": 2, "int32": 3, "int64": 4, "double": 5, "datetime": 6, "guid": 7, "binary": 8}
_TICK = 10**7  # units of 100 ns in a second


class DecryptionError(ValueError):
    """A value cannot be opened: it was changed, or written for another account, table, entity or property, or its key is not there."""


def _joined(*parts: Union[str, bytes]) -> bytes:
    """Each part behind its length: no two lists of parts give the same bytes."""
    encoded = [part.encode() if isinstance(part, str) else part for part in parts]
    return b"".join(struct.pack(">I", len(part)) + part for part in encoded)


# ---- values as bytes ----


def _ticks(time_: dt.datetime) -> int:
    if time_.tzinfo is None:
        raise ValueError(f"{time_.isoformat()} has no time zone: datetime.now(timezone.utc) has one")
    return (time_ - EPOCH) // dt.timedelta(microseconds=1) * 10 + getattr(time_, "tick", 0)


def _time(ticks: int) -> dt.datetime:
    moment = EPOCH + dt.timedelta(microseconds=ticks // 10)
    return DateTime.of(moment, ticks % 10) if ticks % 10 else moment


def encode_value(value: Native) -> bytes:
    """A byte for the type, and the value. TypeError: no type of the data model; ValueError: out of range, a time without a zone."""
    if isinstance(value, bool):
        kind, body = "boolean", bytes([value])
    elif isinstance(value, int):
        kind, layout = ("int32", ">i") if isinstance(value, Int32) else ("int64", ">q")
        try:
            body = struct.pack(layout, value)
        except struct.error:
            raise ValueError(f"{value} does not fit 64 bits") from None
    elif isinstance(value, float):
        kind, body = "double", struct.pack(">d", value)
    elif isinstance(value, str):
        kind, body = "string", value.encode()
    elif isinstance(value, dt.datetime):
        kind, body = "datetime", struct.pack(">q", _ticks(value))
    elif isinstance(value, uuid.UUID):
        kind, body = "guid", value.bytes
    elif isinstance(value, (bytes, bytearray, memoryview)):
        kind, body = "binary", bytes(value)
    else:
        raise TypeError(f"a {type(value).__name__} cannot be stored: use str, bool, int, float, datetime, uuid.UUID or bytes")
    return bytes([_KINDS[kind]]) + body


_DECODERS: dict[int, Callable[[bytes], Any]] = {
    _KINDS["string"]: bytes.decode,
    _KINDS["boolean"]: lambda body: body != b"\0",
    _KINDS["int32"]: lambda body: Int32(struct.unpack(">i", body)[0]),
    _KINDS["int64"]: lambda body: struct.unpack(">q", body)[0],
    _KINDS["double"]: lambda body: struct.unpack(">d", body)[0],
    _KINDS["datetime"]: lambda body: _time(struct.unpack(">q", body)[0]),
    _KINDS["guid"]: lambda body: uuid.UUID(bytes=body),
    _KINDS["binary"]: bytes,
}


def decode_value(data: bytes) -> Native:
    """The value of encode_value()."""
    return _DECODERS[data[0]](data[1:])


# ---- keys that wrap content keys ----


class KeyRing:
    """Keys by id. The first wraps new content keys; all of them unwrap.

    keys  {id: 32 bytes}. An id has 1 to 64 characters of ASCII.
    Any object with wrap(content_key) -> (id, wrapped) and unwrap(id, wrapped) -> content_key serves as well. unwrap raises
    KeyError for an id that it does not know, and InvalidTag or ValueError for what is not a key wrapped under that id.
    """

    def __init__(self, keys: Mapping[str, bytes]):
        if not keys:
            raise ValueError("a key ring needs a key")
        for key_id, key in keys.items():
            if not (key_id.isascii() and 1 <= len(key_id) <= 64):
                raise ValueError(f"key id {key_id!r}: an id has 1 to 64 characters of ASCII")
            if len(key) != KEY_BYTES:
                raise ValueError(f"key {key_id} has {len(key)} bytes, not {KEY_BYTES}")
        self.keys = dict(keys)
        self.current = next(iter(self.keys))

    @classmethod
    def from_file(cls, path: Union[str, os.PathLike]) -> "KeyRing":
        """A file with a line `ID BASE64` for each key, the current one first; empty lines and lines with # are left out.

        ValueError names the line.
        """
        keys = {}
        with open(path, encoding="ascii") as file:
            for number, line in enumerate(file, 1):
                words = line.split()
                if not words or words[0].startswith("#"):
                    continue
                try:
                    key_id, text = words
                    keys[key_id] = base64.b64decode(text, validate=True)
                except ValueError:
                    raise ValueError(f"{path}, line {number}: not a key id and 32 bytes in base64") from None
        return cls(keys)

    def wrap(self, content_key: bytes) -> tuple[str, bytes]:
        """(id, wrapped content key)."""
        nonce = os.urandom(NONCE_BYTES)
        bound = _joined("tavola.key.1", self.current)
        return self.current, nonce + AESGCM(self.keys[self.current]).encrypt(nonce, content_key, bound)

    def unwrap(self, key_id: str, wrapped: bytes) -> bytes:
        """The content key. KeyError: the id is not on the ring; InvalidTag: wrapped with another key."""
        return AESGCM(self.keys[key_id]).decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], _joined("tavola.key.1", key_id))


class KeyCommand:
    """Content keys are wrapped by a program, which asks a service for keys, or a device.

    command  the program and its first arguments. `command wrap` reads 32 bytes in base64 from standard input and prints `ID
             BASE64`; `command unwrap ID` reads what was printed as BASE64, and prints the 32 bytes in base64. It is called once for
             each content key: about every five minutes, and once for each key that is read.
    timeout  seconds
    OSError, subprocess.SubprocessError: the program cannot be run, fails, or takes longer.
    """

    def __init__(self, *command: str, timeout: float = 10):
        self._command, self._timeout = command, timeout

    def _run(self, *arguments: str, data: bytes) -> list[bytes]:
        done = subprocess.run([*self._command, *arguments], input=base64.b64encode(data), stdout=subprocess.PIPE,
                              timeout=self._timeout, check=True)
        return done.stdout.split()

    def wrap(self, content_key: bytes) -> tuple[str, bytes]:
        """(id, wrapped content key)."""
        key_id, wrapped = self._run("wrap", data=content_key)
        return key_id.decode("ascii"), base64.b64decode(wrapped, validate=True)

    def unwrap(self, key_id: str, wrapped: bytes) -> bytes:
        """The content key."""
        return base64.b64decode(self._run("unwrap", key_id, data=wrapped)[0], validate=True)


# ---- content keys ----


class _ContentKeys:
    """The content key for new values, which is made anew after some values or minutes, and those that were unwrapped before."""

    def __init__(self, ring: Any):
        self._ring, self._lock = ring, threading.Lock()
        self._uses, self._end = 0, 0.0
        self._current: tuple[AESGCM, str, bytes]
        self._unwrapped: collections.OrderedDict[tuple[str, bytes], AESGCM] = collections.OrderedDict()

    def current(self) -> tuple[AESGCM, str, bytes]:
        """(content key, id of the key that wraps it, wrapped)."""
        with self._lock:
            if self._uses == 0 or time.monotonic() >= self._end:
                content_key = os.urandom(KEY_BYTES)
                self._current = (AESGCM(content_key), *self._ring.wrap(content_key))
                self._uses, self._end = CONTENT_KEY_VALUES, time.monotonic() + CONTENT_KEY_SECONDS
            self._uses -= 1
            return self._current

    def unwrap(self, key_id: str, wrapped: bytes) -> AESGCM:
        with self._lock:
            found = self._unwrapped.pop((key_id, wrapped), None)
        found = found or AESGCM(self._ring.unwrap(key_id, wrapped))
        with self._lock:
            self._unwrapped[key_id, wrapped] = found
            while len(self._unwrapped) > REMEMBERED_KEYS:
                self._unwrapped.popitem(last=False)
        return found


# ---- encrypted values ----


def _envelope(key_id: str, wrapped: bytes, sealed: bytes) -> bytes:
    return struct.pack(">BB", FORMAT, len(key_id)) + key_id.encode() + struct.pack(">H", len(wrapped)) + wrapped + sealed


def _opened(data: Any) -> tuple[str, bytes, bytes]:
    """(key id, wrapped content key, nonce with ciphertext). ValueError: not an encrypted value."""
    if not isinstance(data, bytes) or len(data) < 2 or data[0] != FORMAT:
        raise ValueError("not an encrypted value")
    id_end = 2 + data[1]
    wrapped_end = id_end + 2 + int.from_bytes(data[id_end:id_end + 2], "big")
    if len(data) < wrapped_end + NONCE_BYTES + TAG_BYTES:
        raise ValueError("an encrypted value that is cut off")
    return data[2:id_end].decode("ascii"), data[id_end + 2:wrapped_end], data[wrapped_end:]


class Encryption:
    """Which properties are encrypted, and how.

    keys        a KeyRing, a KeyCommand, or an object with their methods wrap and unwrap
    account     the account's name: values are bound to it
    properties  {table: names of properties}
    blind       {table: {property: name of another property}}: the other one gets a keyed digest of the first, so that equal
                values can be found and indexed. It tells the service which entities have equal values, and nothing else.
    blind_key   32 bytes for these digests. It cannot be rotated without writing them anew.
    allow_plain a property that was stored before it was declared is read as it is; otherwise DecryptionError
    """

    def __init__(self, keys: Any, account: str, properties: Mapping[str, Collection[str]], *,
                 blind: Optional[Mapping[str, Mapping[str, str]]] = None, blind_key: bytes = b"", allow_plain: bool = False):
        self.keys, self.account, self.allow_plain = keys, account, allow_plain
        self._properties = {table.lower(): frozenset(names) for table, names in properties.items()}
        self._blind = {table.lower(): dict(names) for table, names in (blind or {}).items()}
        self._blind_key = blind_key
        self._content_keys = _ContentKeys(keys)
        if self._blind and len(blind_key) != KEY_BYTES:
            raise ValueError(f"blind_key has {len(blind_key)} bytes, not {KEY_BYTES}")

    def table(self, client: Any, name: str) -> Table:
        """The table with its declared properties encrypted: reads, writes, batches, imports, watches, look-ups, transactions."""
        return client.table(name, encrypt=lambda *entity: self.encrypt(name, *entity),
                            decrypt=lambda *entity: self.decrypt(name, *entity))

    def _bound(self, use: str, table: str, *parts: Union[str, bytes]) -> bytes:
        """What a value is bound to. The service takes names of tables in any case."""
        return _joined(use, self.account, table.lower(), *parts)

    def _seal(self, value: bytes, *where: str) -> bytes:
        """where: table, partition key, row key and name of the property."""
        content_key, key_id, wrapped = self._content_keys.current()
        nonce = os.urandom(NONCE_BYTES)
        return _envelope(key_id, wrapped, nonce + content_key.encrypt(nonce, value, self._bound("tavola.value.1", *where)))

    def _open(self, data: Any, table: str, partition_key: str, row_key: str, name: str) -> bytes:
        where = f"table {table}, entity {partition_key!r}/{row_key!r}, property {name}"
        try:
            key_id, wrapped, sealed = _opened(data)
        except ValueError as error:
            raise DecryptionError(f"{where}: {error}") from None
        bound = self._bound("tavola.value.1", table, partition_key, row_key, name)
        try:
            content_key = self._content_keys.unwrap(key_id, wrapped)
            return content_key.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound)
        except KeyError:
            raise DecryptionError(f"{where}: encrypted with key {key_id}, which is not there") from None
        except (InvalidTag, ValueError):
            raise DecryptionError(f"{where}: changed, or written for another account, table, entity or property") from None

    def _digest(self, table: str, name: str, value: bytes) -> str:
        if value[0] == _KINDS["int32"]:
            value = encode_value(int(decode_value(value)))
        bound = self._bound("tavola.blind.1", table, name, value)
        return hmac.new(self._blind_key, bound, hashlib.sha256).hexdigest()[:32]

    def seal(self, value: Native, table: str, partition_key: str, row_key: str, name: str) -> bytes:
        """One value as it is stored."""
        return self._seal(encode_value(value), table, partition_key, row_key, name)

    def open(self, data: Any, table: str, partition_key: str, row_key: str, name: str) -> Native:
        """The value of what is stored. DecryptionError."""
        return decode_value(self._open(data, table, partition_key, row_key, name))

    def blind(self, table: str, name: str, value: Native) -> str:
        """The digest by which an entity with this value is found: 32 hexadecimal digits. Int32 and Int64 of one number are alike."""
        return self._digest(table, name, encode_value(value))

    def encrypt(self, table: str, partition_key: str, row_key: str, properties: Mapping) -> dict:
        """The properties of an entity as they are stored."""
        out = dict(properties)
        for name, digest in self._blind.get(table.lower(), {}).items():
            if properties.get(name) is not None:
                out[digest] = self.blind(table, name, properties[name])
        for name in self._declared(table, properties):
            out[name] = self.seal(properties[name], table, partition_key, row_key, name)
        return out

    def decrypt(self, table: str, partition_key: str, row_key: str, properties: Mapping) -> dict:
        """The properties of an entity as a program sees them, without the digests. DecryptionError."""
        digests = self._blind.get(table.lower(), {}).values()
        out = {name: value for name, value in properties.items() if name not in digests}
        for name in self._declared(table, out):
            if not self.allow_plain or self._is_sealed(out[name]):
                out[name] = self.open(out[name], table, partition_key, row_key, name)
        return out

    @staticmethod
    def _is_sealed(data: Any) -> bool:
        try:
            return bool(_opened(data))
        except ValueError:
            return False

    # ---- rotation ----

    def _declared(self, table: str, entity: Mapping) -> list[str]:
        """The names of the declared properties that an entity has."""
        names = self._properties.get(table.lower(), frozenset())
        return [name for name, value in entity.items() if name in names and value is not None]

    def _is_old(self, table: str, entity: Entity) -> bool:
        """Whether a declared property is plain, or encrypted with another key than the current one."""
        current = self._content_keys.current()[1]
        values = (entity[name] for name in self._declared(table, entity))
        return any(not self._is_sealed(value) or _opened(value)[0] != current for value in values)

    def _rewrite(self, stored: Table, entity: Entity) -> bool:
        """Values are encrypted anew as bytes, so that nothing of them is lost. False: somebody else has written the entity."""
        table = stored.name
        plain = {name: encode_value(entity[name]) if self.allow_plain and not self._is_sealed(entity[name])
                 else self._open(entity[name], table, *entity.key, name) for name in self._declared(table, entity)}
        entity.update({name: self._seal(value, table, *entity.key, name) for name, value in plain.items()})
        for name, digest in self._blind.get(table.lower(), {}).items():
            if name in plain:
                entity[digest] = self._digest(table, name, plain[name])
        try:
            stored.replace(entity, if_match=entity.etag)
        except (errors.ConditionNotMet, errors.EntityNotFound):
            return False  # written since, with the current key, or deleted
        return True

    def rotate(self, client: Any, name: str, token: str = "") -> Iterator[tuple[int, str]]:
        """Write anew what is not encrypted with the current key. Yields (entities written anew, page token) after each page.

        Store the token: rotate(client, name, token) goes on behind it. Before the first page every writer has to have the new key.
        Needs allow_plain where a property was declared after entities had been written.
        """
        stored = client.table(name)
        for page in stored.query(token=token).pages():
            yield sum(self._rewrite(stored, entity) for entity in page.entities if self._is_old(name, entity)), page.token
