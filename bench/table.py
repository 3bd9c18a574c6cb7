# SPDX-License-Identifier: Apache-2.0
"""The rows of `./dev bench`: one entry each."""

from rows import Row

_RATE = "rate"
_PGBENCH = ("pgbench upsert", _RATE)
_ARRAYS = ("libpq upsert", _RATE)
_ECHO = ("echo 64", _RATE)
_RANGE = ("libpq range", _RATE)

ROWS = [
    Row("Get / echo, h2load 8x8", ("get h2load", _RATE), ("echo h2load", _RATE), must=0.75, aim=0.95),
    Row("Get / echo, 64 in flight", ("get 64", _RATE), _ECHO, must=0.8, aim=1.0),
    Row("Get / echo, 64 in flight, Zipf", ("get 64 zipf", _RATE), _ECHO),
    Row("Get / echo, 64 in flight, one key", ("get 64 hot", _RATE), _ECHO),
    Row("Get / echo, 64 in flight, 20 kB", ("get 64 large", _RATE), ("echo 64 large", _RATE)),
    Row("server CPU per Get / echo", ("get 64", "server_us"), ("echo 64", "server_us"), "<=", 1.2, 1.0, "us"),
    Row("server CPU per Get / echo, h2load", ("get h2load", "server_us"), ("echo h2load", "server_us"), "<=", unit="us"),
    Row("PostgreSQL CPU per Get / pgbench", ("get 64", "postgres_us"), ("pgbench get", "postgres_us"), "<=", 0.25, 0.18,
        "us"),
    Row("PostgreSQL CPU per Get / libpq arrays of 64", ("get 64", "postgres_us"), ("libpq get arrays", "postgres_us"),
        "<=", unit="us"),
    Row("Get, one in flight / echo + libpq", ("get 1", "p50_us"), ("echo 1", "p50_us"), "<=", 1.25, 1.05, "us",
        plus=("libpq get 1", "p50_us")),
    # pgbench costs few microseconds per transaction; so does the load generator of this row. The C core of the row
    # below costs more.
    Row("InsertOrReplace, 256 in flight / pgbench", ("upsert 256 lean", _RATE), _PGBENCH, must=2.5, aim=4),
    Row("InsertOrReplace, 256, C-core client / the same", ("upsert 256", _RATE), _PGBENCH),
    Row("InsertOrReplace, 64 in flight / the same", ("upsert 64", _RATE), _PGBENCH),
    Row("InsertOrReplace, 64, Zipf / the same", ("upsert 64 zipf", _RATE), _PGBENCH),
    Row("InsertOrReplace, 64, one key / the same", ("upsert 64 hot", _RATE), _PGBENCH),
    Row("InsertOrReplace, 64, 20 kB / pgbench, 20 kB", ("upsert 64 large", _RATE), ("pgbench upsert large", _RATE)),
    Row("Replace, If-Match, 256 / pgbench", ("replace 256", _RATE), _PGBENCH, must=1.5, aim=3),
    Row("Replace, If-Match, 64 / the same", ("replace 64", _RATE), _PGBENCH),
    Row("Insert, 256 / the same", ("insert 256", _RATE), _PGBENCH, must=1.5, aim=3),
    Row("InsertOrReplace, one index, 256 / the same", ("upsert indexed", _RATE), _PGBENCH, must=1.3, aim=2.5),
    Row("InsertOrReplace, one strong index, 256 / the same", ("upsert strong", _RATE), _PGBENCH, must=1.5),
    Row("InsertOrReplace, one strong index in other partitions, 256 / the same", ("upsert strong elsewhere", _RATE), _PGBENCH),
    Row("InsertOrReplace, one unique index, 256 / the same", ("upsert unique", _RATE), _PGBENCH),
    Row("EGT of 100, entities / libpq arrays", ("batch", _RATE), _ARRAYS, must=0.5, aim=0.8),
    Row("Import, entities / libpq arrays", ("import", _RATE), _ARRAYS, must=0.5, aim=0.9),
    Row("Query pages of 1000, rows / libpq", ("pages", _RATE), _RANGE, must=0.4, aim=0.7),
    Row("scan of a table as a stream, rows / libpq", ("scan stream", _RATE), _RANGE),
    Row("filtered partition scan, rows examined / libpq", ("filtered scan", _RATE), _RANGE, must=0.4, aim=0.8),
    Row("worker, index entries / libpq arrays", ("worker", _RATE), _ARRAYS),
    Row("worker, entries of new keys / libpq arrays", ("worker new", _RATE), _ARRAYS),
    Row("worker, entries of five indexes / libpq arrays", ("worker 5", _RATE), _ARRAYS),
    Row("worker, intents with nothing to do / libpq arrays", ("worker no-op", _RATE), _ARRAYS),
    Row("worker, intents of one key / intents with nothing to do", ("worker hot", _RATE), ("worker no-op", _RATE)),
    Row("queue, messages / raw Redis stream", ("queue", _RATE), ("redis stream", _RATE)),
    # What a feature costs: with it / without it.
    Row("cost of one eventual index, upsert, server CPU", ("upsert indexed", "server_us"), ("upsert 256", "server_us"),
        "<=", unit="us"),
    Row("cost of five eventual indexes, upsert, server CPU", ("upsert indexed 5", "server_us"),
        ("upsert 256", "server_us"), "<=", unit="us"),
    Row("cost of one strong index, upsert, server CPU", ("upsert strong", "server_us"), ("upsert 256", "server_us"),
        "<=", unit="us"),
    Row("cost of one strong index, upsert, PostgreSQL CPU", ("upsert strong", "postgres_us"),
        ("upsert 256", "postgres_us"), "<=", unit="us"),
    Row("cost of one strong index in other partitions, upsert, server CPU", ("upsert strong elsewhere", "server_us"),
        ("upsert 256", "server_us"), "<=", unit="us"),
    Row("cost of one strong index in other partitions, upsert, PostgreSQL CPU", ("upsert strong elsewhere", "postgres_us"),
        ("upsert 256", "postgres_us"), "<=", unit="us"),
    Row("cost of one unique index, upsert, server CPU", ("upsert unique", "server_us"), ("upsert 256", "server_us"),
        "<=", unit="us"),
    Row("cost of one unique index, upsert, PostgreSQL CPU", ("upsert unique", "postgres_us"),
        ("upsert 256", "postgres_us"), "<=", unit="us"),
    Row("cost of one eventual index, upsert, PostgreSQL CPU", ("upsert indexed", "postgres_us"),
        ("upsert 256", "postgres_us"), "<=", unit="us"),
    Row("cost of five eventual indexes, upsert, PostgreSQL CPU", ("upsert indexed 5", "postgres_us"),
        ("upsert 256", "postgres_us"), "<=", unit="us"),
]
