# SPDX-License-Identifier: Apache-2.0
"""A backlog of index work, in one partition and in many: how fast a worker that comes back does it.

It was made while no worker ran. Its messages lie in Redis, up to the cap of a stream; or Redis was flushed since; or
there is no Redis, and the worker polls.
"""

import wire
from rows import Row

TABLE, INDEX = "Backlog", "BacklogByColor"
PARTITION = "backlog"
AWAY = "unix:/nowhere/redis"
WAYS = ("streams", "flushed", "polled")  # where the worker finds its work


def name(shape, way):
    return f"backlog {shape} {way}"


ROWS = [
    Row(f"backlog of one partition / of many, {way}", (name("one", way), "rate"), (name("many", way), "rate"),
        must=must, aim=0.8)
    for way, must in (("streams", 0.5), ("flushed", 0.5), ("polled", 0.25))
]


class Backlog:
    """size: entities, each with an entry to write; every measurement has keys of its own."""

    def __init__(self, product, size):
        self.product = product
        self.size = size
        self.next_key = wire.FIRST

    def prepare(self):
        self.product.start()
        self.product.create([TABLE], [(INDEX, TABLE, ["Color"])])

    def fill(self, shape):
        keys = range(self.next_key, self.next_key + self.size)
        self.next_key += self.size
        if shape == "one":
            self.product.once("ImportEntities", wire.import_partition(TABLE, PARTITION, keys), 1, "stream")
        else:
            self.product.once("ImportEntities", wire.import_(TABLE, keys), 2, "stream")

    def drain(self, shape, way):
        self.product.stack.flush_redis()
        self.fill(shape)
        if way == "flushed":
            self.product.stack.flush_redis()
        return self.product.worker(self.size, **{"TAVOLA_REDIS": AWAY} if way == "polled" else {})

    def measurements(self):
        return {
            name(shape, way): lambda shape=shape, way=way: self.drain(shape, way)
            for way in WAYS for shape in ("many", "one")
        }
