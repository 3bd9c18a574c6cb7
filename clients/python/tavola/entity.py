# SPDX-License-Identifier: Apache-2.0
"""Entities: dicts in the form that REST clients know, with what the server adds as attributes."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from tavola.descriptors import type_of
from tavola.values import set_timestamp, set_value, timestamp_of, value_of

# Called with (partition key, row key, properties); returns the properties to be stored, or to be shown.
Hook = Callable[[str, str, dict], dict]


class Entity(dict):
    """A dict of PartitionKey, RowKey and the properties.

    etag       the version that was read or written; empty if the entity has not been stored
    timestamp  when that version was written, or None
    expires    when the entity is to go by itself, a time with a zone, or None: never
    """

    def __init__(self, properties: Any = (), *, expires: Optional[dt.datetime] = None, **more: Any):
        super().__init__(properties, **more)
        self.etag = ""
        self.timestamp: Optional[dt.datetime] = None
        self.expires = expires

    @property
    def key(self) -> tuple[str, str]:
        """(partition key, row key)."""
        return self["PartitionKey"], self["RowKey"]


@dataclass(frozen=True)
class WriteResult:
    """What a write has brought: the new version, and a token that look-ups can wait for (at_least)."""

    etag: str
    timestamp: Optional[dt.datetime]
    consistency_token: str
    replayed: bool


def key_of(entity: Mapping) -> tuple[str, str]:
    """The keys of an entity. ValueError: it has none."""
    try:
        return entity["PartitionKey"], entity["RowKey"]
    except KeyError as missing:
        raise ValueError(f"the entity has no {missing}; keys may be empty, but must be given") from None


def encode(entity: Mapping, encrypt: Optional[Hook] = None) -> Any:
    """The message of an entity. ValueError and TypeError name the property."""
    partition, row = key_of(entity)
    out = type_of("Entity")(partition_key=partition, row_key=row)
    properties = {name: value for name, value in entity.items() if name not in ("PartitionKey", "RowKey")}
    for name, value in (encrypt(partition, row, properties) if encrypt else properties).items():
        try:
            set_value(out.properties[name], value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"property {name}: {error}") from None
    if getattr(entity, "expires", None) is not None:
        set_timestamp(out.expires, entity.expires)
    return out


def decode(found: Any, decrypt: Optional[Hook] = None) -> Entity:
    """The entity of a message."""
    properties = {name: value_of(value) for name, value in sorted(found.properties.items())}
    if decrypt:
        properties = decrypt(found.partition_key, found.row_key, properties)
    out = Entity({"PartitionKey": found.partition_key, "RowKey": found.row_key, **properties})
    out.etag = found.etag
    out.timestamp = timestamp_of(found.timestamp) if found.HasField("timestamp") else None
    out.expires = timestamp_of(found.expires) if found.HasField("expires") else None
    return out


def decode_result(found: Any) -> WriteResult:
    """The result of a write."""
    when = timestamp_of(found.timestamp) if found.HasField("timestamp") else None
    return WriteResult(found.etag, when, found.consistency_token, found.replayed)
