"""The rows of the table: what is compared with what, and what must come out."""

import dataclasses
import statistics


@dataclasses.dataclass
class Row:
    name: str
    value: tuple  # measurement, figure
    against: tuple
    sense: str = ">="
    must: float | None = None
    aim: float | None = None
    unit: str = "1/s"
    plus: tuple | None = None  # added to what it is compared with


_RATE = "rate"
_PGBENCH = ("pgbench upsert", _RATE)
_ARRAYS = ("libpq upsert", _RATE)

ROWS = [
    Row("Get / echo, h2load 8x8", ("get h2load", _RATE), ("echo h2load", _RATE), must=0.75, aim=0.95),
    Row("Get / echo, 64 in flight", ("get 64", _RATE), ("echo 64", _RATE), must=0.8, aim=1.0),
    Row("Get / echo, 64 in flight, Zipf", ("get 64 zipf", _RATE), ("echo 64", _RATE)),
    Row("Get / echo, 64 in flight, one key", ("get 64 hot", _RATE), ("echo 64", _RATE)),
    Row("server CPU per Get / echo", ("get 64", "server_us"), ("echo 64", "server_us"), "<=", 1.2, 1.0, "us"),
    Row("server CPU per Get / echo, h2load", ("get h2load", "server_us"), ("echo h2load", "server_us"), "<=", unit="us"),
    Row("PostgreSQL CPU per Get / pgbench", ("get 64", "postgres_us"), ("pgbench get", "postgres_us"), "<=", 0.25, 0.18, "us"),
    Row("Get, one in flight / echo + libpq", ("get 1", "p50_us"), ("echo 1", "p50_us"), "<=", 1.25, 1.05, "us",
        plus=("libpq get 1", "p50_us")),
    Row("InsertOrReplace, 256 in flight / pgbench", ("upsert 256", _RATE), _PGBENCH, must=2.5, aim=4),
    Row("InsertOrReplace, 64 in flight / the same", ("upsert 64", _RATE), _PGBENCH),
    Row("InsertOrReplace, 64, Zipf / the same", ("upsert 64 zipf", _RATE), _PGBENCH),
    Row("InsertOrReplace, 64, one key / the same", ("upsert 64 hot", _RATE), _PGBENCH),
    Row("Replace, If-Match, 256 / the same", ("replace 256", _RATE), _PGBENCH, must=1.5, aim=3),
    Row("Replace, If-Match, 64 / the same", ("replace 64", _RATE), _PGBENCH),
    Row("Insert, 256 / the same", ("insert 256", _RATE), _PGBENCH, must=1.5, aim=3),
    Row("InsertOrReplace, one index, 256 / the same", ("upsert indexed", _RATE), _PGBENCH, must=1.3, aim=2.5),
    Row("EGT of 100, entities / libpq arrays", ("batch", _RATE), _ARRAYS, must=0.5, aim=0.8),
    Row("Import, entities / libpq arrays", ("import", _RATE), _ARRAYS, must=0.5, aim=0.9),
    Row("Query pages of 1000, rows / libpq", ("pages", _RATE), ("libpq range", _RATE), must=0.4, aim=0.7),
    Row("worker, index entries / libpq arrays", ("worker", _RATE), _ARRAYS),
]


@dataclasses.dataclass
class Judged:
    row: Row
    values: list
    againsts: list
    ratio: float

    @property
    def value(self):
        return statistics.median(self.values)

    @property
    def against_value(self):
        return statistics.median(self.againsts)

    def holds(self, bound):
        return self.ratio >= bound if self.row.sense == ">=" else self.ratio <= bound

    @property
    def missed(self):
        return self.row.must is not None and not self.holds(self.row.must)

    @property
    def verdict(self):
        if self.row.must is None:
            return "-"
        if self.missed:
            return "MISSED"
        return "aim" if self.holds(self.row.aim) else "must"

    def as_json(self):
        against = self.row.against[0] + (f" + {self.row.plus[0]}" if self.row.plus else "")
        return {
            "name": self.row.name,
            "value": round(self.value, 3),
            "unit": self.row.unit,
            "against": against,
            "against_value": round(self.against_value, 3),
            "ratio": round(self.ratio, 4),
            "sense": self.row.sense,
            "must": self.row.must,
            "aim": self.row.aim,
        }


def _figures(results, source):
    return [seen[source[1]] for seen in results[source[0]]]


def judge(row, results):
    values = _figures(results, row.value)
    againsts = _figures(results, row.against)
    if row.plus:
        againsts = [a + b for a, b in zip(againsts, _figures(results, row.plus))]
    ratios = [value / against for value, against in zip(values, againsts)]
    return Judged(row, values, againsts, statistics.median(ratios))


def _spread(values):
    return f"{min(values):,.0f}..{max(values):,.0f}"


def print_table(judged, results):
    print(f"{'measured':34} {'median':>9} {'spread':>19} {'server':>8} {'postgres':>8} {'client':>7} {'p50':>7} {'p99':>7}")
    print(f"{'':34} {'1/s':>9} {'':>19} {'us/op':>8} {'us/op':>8} {'us/op':>7} {'us':>7} {'us':>7}")
    for name, seen in results.items():
        rates = [one["rate"] for one in seen]
        cells = [
            f"{statistics.median(one[key] for one in seen):.1f}" if key in seen[0] else "-"
            for key in ("server_us", "postgres_us", "cpu_us", "p50_us", "p99_us")
        ]
        print(f"{name:34} {statistics.median(rates):9,.0f} {_spread(rates):>19} "
              f"{cells[0]:>8} {cells[1]:>8} {cells[2]:>7} {cells[3]:>7} {cells[4]:>7}")
    print()
    print(f"{'compared':42} {'value':>10} {'against':>10} {'ratio':>7}    {'must':>5} {'aim':>5}  verdict")
    for one in judged:
        row = one.row
        bounds = [f"{bound:g}" if bound is not None else "" for bound in (row.must, row.aim)]
        print(f"{row.name:42} {one.value:10,.1f} {one.against_value:10,.1f} {one.ratio:7.2f} {row.sense} "
              f"{bounds[0]:>5} {bounds[1]:>5}  {one.verdict}")
