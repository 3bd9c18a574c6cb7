# SPDX-License-Identifier: Apache-2.0
"""Property values: native Python values, and the few wrappers that keep what Python's own types would lose.

    Python              stored as       read as
    str                 String          str
    bool                Boolean         bool
    int                 Int64           int
    Int32(36)           Int32           Int32, an int
    float               Double          float
    datetime            DateTime        datetime in UTC; DateTime if it has a part below a microsecond
    uuid.UUID           Guid            uuid.UUID
    bytes               Binary          bytes
    None                not stored      the property is not there
"""

import datetime as dt
import uuid
from typing import Any, Optional, Union

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
Native = Union[str, bool, int, float, bytes, dt.datetime, uuid.UUID, None]


class Int32(int):
    """An integer that is stored as Int32. ValueError beyond 32 bits."""

    def __new__(cls, value: Any = 0) -> "Int32":
        made = super().__new__(cls, value)
        if not -(2**31) <= made < 2**31:
            raise ValueError(f"{int(made)} does not fit Int32")
        return made


class Int64(int):
    """An integer that is stored as Int64, as every plain int is: for programs that want to say so."""


class DateTime(dt.datetime):
    """A time in steps of 100 ns, as the service stores it: `tick` is the digit below a microsecond, 0 to 9."""

    tick = 0

    @classmethod
    def of(cls, time: dt.datetime, tick: int) -> "DateTime":
        """The time with its last digit."""
        made = cls(time.year, time.month, time.day, time.hour, time.minute, time.second, time.microsecond, time.tzinfo)
        made.tick = tick
        return made


def set_timestamp(out: Any, time: dt.datetime) -> None:
    """Fill a google.protobuf.Timestamp. ValueError: the time has no zone."""
    if time.tzinfo is None:
        raise ValueError(f"{time.isoformat()} has no time zone: datetime.now(timezone.utc) has one")
    since = time - EPOCH
    out.seconds = since.days * 86400 + since.seconds
    out.nanos = since.microseconds * 1000 + getattr(time, "tick", 0) * 100


def timestamp_of(found: Any) -> dt.datetime:
    """The time of a google.protobuf.Timestamp, in UTC."""
    time = EPOCH + dt.timedelta(seconds=found.seconds, microseconds=found.nanos // 1000)
    tick = found.nanos // 100 % 10
    return DateTime.of(time, tick) if tick else time


def set_value(out: Any, value: Native) -> None:
    """Fill a tavola.v1.Value. TypeError: not a type of the table above; ValueError: out of range, a time without a zone."""
    if value is None:
        out.Clear()
    elif isinstance(value, bool):
        out.boolean_value = value
    elif isinstance(value, Int32):
        out.int32_value = value
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{value} does not fit 64 bits")
        out.int64_value = value
    elif isinstance(value, float):
        out.double_value = value
    elif isinstance(value, str):
        out.string_value = value
    elif isinstance(value, dt.datetime):
        set_timestamp(out.datetime_value, value)
    elif isinstance(value, uuid.UUID):
        out.guid_value = str(value)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        out.binary_value = bytes(value)
    else:
        raise TypeError(f"a {type(value).__name__} cannot be stored: use str, bool, int, float, datetime, uuid.UUID or bytes")


def value_of(found: Any) -> Native:
    """The native value of a tavola.v1.Value."""
    kind = found.WhichOneof("kind")
    if kind is None:
        return None
    value = getattr(found, kind)
    if kind == "int32_value":
        return Int32(value)
    if kind == "datetime_value":
        return timestamp_of(value)
    if kind == "guid_value":
        return uuid.UUID(value)
    return value


def _double(value: float) -> str:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "INF" if value > 0 else "-INF"
    return repr(value) if "." in repr(value) or "e" in repr(value) else repr(value) + ".0"


def literal(value: Native) -> str:
    """The value as a literal of filter text (docs/filters.md)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _double(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, dt.datetime):
        utc = (value - EPOCH + EPOCH) if value.tzinfo else None
        if utc is None:
            raise ValueError(f"{value.isoformat()} has no time zone")
        return f"datetime'{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond:06}{getattr(value, 'tick', 0)}Z'"
    if isinstance(value, uuid.UUID):
        return f"guid'{value}'"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"X'{bytes(value).hex()}'"
    raise TypeError(f"a filter cannot have a {type(value).__name__}")


class _Quoted:
    def __init__(self, value: Native):
        self.value = value

    def __format__(self, _: str) -> str:
        return literal(self.value)


def odata(text: str, **values: Native) -> str:
    """Filter text with values in it: odata("Customer eq {c} and Total ge {t}", c="O'Neill", t=100).

    Text is quoted, times and Guids are written as the filter language has them. KeyError: a name without a value.
    """
    return text.format(**{name: _Quoted(value) for name, value in values.items()})


def duration_seconds(found: Any) -> Optional[float]:
    """Seconds of a google.protobuf.Duration."""
    return found.seconds + found.nanos / 1e9
