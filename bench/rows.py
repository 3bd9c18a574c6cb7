# SPDX-License-Identifier: Apache-2.0
"""Comparison: which figure is compared with which, the verdicts, as a table and as JSON. A measurement has a name and
returns figures, once per round. A row compares one figure with another of the same round, or with a bound; the
median of the rounds' ratios counts.

A round in which the processors were faster during one of the measurements than during another, or in which the host
gave them to others, compares the machine and not the service. It does not count, as long as three rounds remain, or half
of fewer than six.
"""

import dataclasses
import json
import os
import statistics

LIKE = 1.15  # how much faster the processors may be during one measurement than during another that is compared with it
MAX_STOLEN = 3  # per cent of the processors' time that the host may give to others during a measurement
ENOUGH = 3  # rounds, for the others to be left out
WORST = 1e9  # the ratio of a row with "<=" that could not be measured; with ">=" it is 0


@dataclasses.dataclass
class Row:
    name: str
    value: tuple  # measurement, figure
    against: tuple | float  # the same, or a bound
    sense: str = ">="
    must: float | None = None
    aim: float | None = None
    unit: str = "1/s"
    plus: tuple | None = None  # added to the figure that it is compared with
    note: str = ""  # printed beside the verdict
    rests_on: tuple = ()  # other measurements: how much load there was follows from them, or they were made at the same time
    either: str = ""  # a rule with several forms: rows of one name hold if one of them does

    @property
    def sources(self):
        return [source for source in (self.value, self.against, self.plus) if isinstance(source, tuple)]

    @property
    def measurements(self):
        return [name for name, _ in self.sources] + list(self.rests_on)


class Results:
    """The figures of all measurements, and which of them failed."""

    def __init__(self, speed=None):
        self.speed = speed  # of the processors (see speed.py)
        self.seen = {}
        self.errors = {}
        self.broken = None  # why there are not more rounds

    def take(self, name, measure):
        """Measure once more; a measurement that has failed is not repeated. False: it failed."""
        if name in self.errors:
            return True
        try:
            seen = self.speed.during(measure) if self.speed else measure()
            self.seen.setdefault(name, []).append(seen)
        except Exception as error:  # pylint: disable=broad-except # after any failure the other rows go on
            self.errors[name] = f"{type(error).__name__}: {error}"
        return name not in self.errors

    def median(self, name, figure="rate"):
        if name not in self.seen or name in self.errors:
            raise RuntimeError(f"{name} was not measured")
        return statistics.median(one[figure] for one in self.seen[name])


@dataclasses.dataclass
class Judged:
    row: Row
    value: float = 0
    against_value: float = 0
    ratio: float = 0
    error: str | None = None
    excused: bool = False  # another form of the same rule holds
    rounds: int = 0  # that count
    all_rounds: int = 0

    def holds(self, bound):
        return self.ratio >= bound if self.row.sense == ">=" else self.ratio <= bound

    @property
    def missed(self):
        return self.row.must is not None and not self.holds(self.row.must) and not self.excused

    @property
    def verdict(self):
        if self.error:
            return "FAILED"
        if self.row.must is None:
            return "-"
        if self.missed:
            return "MISSED"
        if not self.holds(self.row.must):
            return "other form"
        return "aim" if self.row.aim is not None and self.holds(self.row.aim) else "must"

    def as_json(self):
        row = self.row
        against = row.against[0] if isinstance(row.against, tuple) else "bound"
        fields = {
            "name": row.name,
            "value": round(self.value, 3),
            "unit": row.unit,
            "against": against + (f" + {row.plus[0]}" if row.plus else ""),
            "against_value": round(self.against_value, 3),
            "ratio": round(self.ratio, 4),
            "sense": row.sense,
            "must": row.must,
            "aim": row.aim,
            "rounds": self.rounds,
        }
        return fields | ({"error": self.error} if self.error else {})


def _figures(results, source, rounds):
    """One for each of these rounds."""
    return [results.seen[source[0]][one][source[1]] if isinstance(source, tuple) else source for one in rounds]


def _like_rounds(row, results):
    """(the rounds that count, how many there are)"""
    count = min(len(results.seen[name]) for name, _ in row.sources)

    def is_like(one):
        seen = [results.seen[name][one] for name in row.measurements if one < len(results.seen.get(name, []))]
        loops = [figures["loop_us"] for figures in seen if "loop_us" in figures]
        stolen = max((figures.get("stolen", 0) for figures in seen), default=0)
        return stolen <= MAX_STOLEN and (not loops or max(loops) <= LIKE * min(loops))

    like = [one for one in range(count) if is_like(one)]
    return (like if len(like) >= min(ENOUGH, count / 2) else range(count)), count


def judge(row, results):
    """None: the figure was not measured."""
    worst = 0 if row.sense == ">=" else WORST
    for name, _ in row.sources:
        if name in results.errors:
            return Judged(row, ratio=worst, error=f"{name}: {results.errors[name]}")
    if any(name not in results.seen for name, _ in row.sources):
        return Judged(row, ratio=worst, error=results.broken) if results.broken else None
    rounds, count = _like_rounds(row, results)
    values = _figures(results, row.value, rounds)
    againsts = _figures(results, row.against, rounds)
    if row.plus:
        againsts = [a + b for a, b in zip(againsts, _figures(results, row.plus, rounds))]
    if min(againsts) <= 0:
        return Judged(row, ratio=worst, error=f"{row.against}: nothing to compare with")
    ratio = statistics.median(value / against for value, against in zip(values, againsts))
    return Judged(row, statistics.median(values), statistics.median(againsts), ratio, rounds=len(rounds), all_rounds=count)


def excuse(judged):
    """Of a rule with several forms, those that miss are excused by one that holds."""
    kept = {one.row.either for one in judged if one.row.either and not one.error and one.holds(one.row.must)}
    for one in judged:
        one.excused = one.row.either in kept and not one.error


# ---- the printed table ----

_COLUMNS = (("rate", "1/s", 11, 0), ("server_us", "server us", 10, 1), ("kernel_us", "of it kernel", 13, 1),
            ("postgres_us", "postgres", 9, 1),
            ("client_us", "client", 8, 1), ("p50_us", "p50 us", 10, 0), ("p99_us", "p99 us", 10, 0),
            ("p999_us", "p99.9 us", 10, 0), ("failed", "failed", 9, 0),
            ("loop_us", "loop us", 9, 0), ("stolen", "stolen %", 10, 1))


def _spread(seen):
    rates = [one["rate"] for one in seen if "rate" in one]
    return f"{min(rates):,.0f}..{max(rates):,.0f}" if rates else "-"


def print_measured(results):
    print(f"{'measured':40}" + "".join(f"{title:>{width}}" for _, title, width, _ in _COLUMNS) + "  spread 1/s")
    for name, seen in results.seen.items():
        if "rate" not in seen[0]:
            continue  # bytes and instructions have no rate beside them
        cells = ""
        for key, _, width, digits in _COLUMNS:
            known = [one[key] for one in seen if key in one]
            cells += f"{statistics.median(known):{width},.{digits}f}" if known else f"{'-':>{width}}"
        print(f"{name:40}{cells}  {_spread(seen)}")


def print_judged(judged, results):
    print(f"\n{'compared':58} {'value':>13} {'against':>13} {'ratio':>8}    {'must':>5} {'aim':>5}  verdict")
    for one in judged:
        row = one.row
        bounds = [f"{bound:g}" if bound is not None else "" for bound in (row.must, row.aim)]
        ratio = "-" if one.error else f"{one.ratio:.3f}"
        note = f"  {row.note}" if row.note else ""
        note += f"  ({one.rounds} of {one.all_rounds} rounds)" if one.rounds < one.all_rounds else ""
        print(f"{row.name:58} {one.value:13,.1f} {one.against_value:13,.1f} {ratio:>8} {row.sense} "
              f"{bounds[0]:>5} {bounds[1]:>5}  {one.verdict}{note}")
    failed = [one.error for one in judged if one.error] + [f"{name}: {error}" for name, error in results.errors.items()]
    for text in dict.fromkeys(failed):
        print(f"failed: {text}")


def write_json(path, judged, keep):
    """keep: rows in the file with other names stay."""
    rows = [one.as_json() for one in judged]
    if keep and os.path.exists(path):
        names = {row["name"] for row in rows}
        with open(path, encoding="utf-8") as file:
            rows = [row for row in json.load(file) if row["name"] not in names] + rows
    with open(path, "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
