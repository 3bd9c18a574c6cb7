# SPDX-License-Identifier: Apache-2.0
"""Keys for the patterns of docs/patterns: compound keys, log tails, data series, and partitions that share the load of one.

Every function is pure, and the Node package makes the same keys: tests/vectors/keys.json.
"""

import datetime as dt
import hashlib
import heapq
import secrets
from collections.abc import Iterable, Iterator
from typing import Optional

from tavola.entity import Entity
from tavola.values import literal

_SEPARATOR, _ESCAPES = "_", {"~": "~0", "_": "~1"}
_LAST_TICK = 3_155_378_975_999_999_999  # 9999-12-31T23:59:59.9999999Z, in units of 100 ns since 0001-01-01
_YEAR_ONE = dt.datetime(1, 1, 1, tzinfo=dt.timezone.utc)
_MICROSECOND = dt.timedelta(microseconds=1)


def compound(*parts: str) -> str:
    """One key of several parts: `000123_2026`. A `_` or `~` inside a part is escaped, so that no two lists of parts share a key.

    Keys with the same first parts are ordered by the next part. Numbers have to be padded() for that.
    """
    return _SEPARATOR.join("".join(_ESCAPES.get(character, character) for character in part) for part in parts)


def parts_of(key: str) -> list[str]:
    """The parts of a compound key."""
    return [part.replace("~1", "_").replace("~0", "~") for part in key.split(_SEPARATOR)]


def padded(number: int, width: int = 10) -> str:
    """A number as digits of one width, so that texts have the order of numbers. ValueError: negative, or wider."""
    text = f"{number:0{width}d}"
    if number < 0 or len(text) > width:
        raise ValueError(f"{number} is not a number from 0 to {10 ** width - 1}, which {width} digits can hold")
    return text


def _successor(prefix: str) -> str:
    """The smallest text that is larger than every text that begins with prefix. ValueError: there is none."""
    kept = prefix.rstrip("\U0010ffff")
    if not kept:
        raise ValueError("every text begins with the empty prefix: leave the condition out")
    last = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if last == 0xD800 else last)  # 0xD800 to 0xDFFF are no characters


def starts_with(prefix: str, key: str = "RowKey") -> str:
    """A filter for the keys that begin with prefix: `starts_with(compound("000123", ""))` for all with this first part.

    The service reads these rows alone.
    """
    return f"{key} ge {literal(prefix)} and {key} lt {literal(_successor(prefix))}"


def log_tail(when: Optional[dt.datetime] = None, unique: Optional[str] = None) -> str:
    """A row key that puts the newest entity first: 19 digits that count down, `_`, and what makes it unique.

    when: a time with a zone; now, if it is not given. unique: what distinguishes entities of one tick; 12 random digits if it
    is not given. The order is that of the writers' clocks.
    """
    when = when or dt.datetime.now(dt.timezone.utc)
    ticks = (when - _YEAR_ONE) // _MICROSECOND * 10
    return f"{_LAST_TICK - ticks:019d}{_SEPARATOR}{secrets.token_hex(6) if unique is None else unique}"


def log_tail_time(row_key: str) -> dt.datetime:
    """The time in a row key of log_tail()."""
    return _YEAR_ONE + (_LAST_TICK - int(row_key[:19])) // 10 * _MICROSECOND


def day_of(when: dt.datetime) -> str:
    """The row key of a data series with an entity for each day, in UTC: `2026-11-23`. when: a time with a zone."""
    return when.astimezone(dt.timezone.utc).date().isoformat()


def hour_of(when: dt.datetime) -> str:
    """The property of an hour in that entity, in UTC: `H07`. when: a time with a zone."""
    return when.astimezone(dt.timezone.utc).strftime("H%H")


_PERIODS = {"hour": "%Y%m%d%H", "day": "%Y%m%d", "month": "%Y%m", "year": "%Y"}


def period_table(name: str, when: Optional[dt.datetime] = None, unit: str = "month") -> str:
    """The table of a period, of a table that keeps tables of periods, in UTC: `logins202611`. ValueError: unit is not one of hour, day, month and
    year.

    Take it anew for each write: a program that keeps the name writes into the past, and is refused once that is dropped.
    when: a time with a zone; now, if it is not given.
    """
    if unit not in _PERIODS:
        raise ValueError(f"unit is {unit}, not one of {', '.join(_PERIODS)}")
    return name + (when or dt.datetime.now(dt.timezone.utc)).astimezone(dt.timezone.utc).strftime(_PERIODS[unit])


def spread(partition_key: str, row_key: str, partitions: int = 16) -> str:
    """One of the partitions that share the load of one: `07_visits`. The same row key always gives the same partition."""
    number = int.from_bytes(hashlib.sha256(row_key.encode()).digest()[:4], "big") % partitions
    return spread_over(partition_key, partitions)[number]


def spread_over(partition_key: str, partitions: int = 16) -> list[str]:
    """All partitions that spread() may give. ValueError: partitions is not from 1 to 100."""
    if not 1 <= partitions <= 100:
        raise ValueError(f"partitions is {partitions}, not a number from 1 to 100")
    return [f"{number:02d}{_SEPARATOR}{partition_key}" for number in range(partitions)]


def merged(queries: Iterable[Iterable[Entity]]) -> Iterator[Entity]:
    """The entities of several queries, one for each partition of spread_over(), as one sequence in the order of the row keys."""
    return heapq.merge(*queries, key=lambda entity: entity["RowKey"])
