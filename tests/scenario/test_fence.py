# SPDX-License-Identifier: Apache-2.0
"""A session that stands still inside a transaction: changes of the catalogue wait for it, and other calls go on."""

import contextlib
import threading
import time
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import ApiError, entity

WRITERS = 4
SECONDS = 2
PAUSE_SECONDS = 0.005  # between two writes of a caller


class Fence(ServerCase):
    with_worker = True

    def written_per_second(self, table, seconds):
        """Several callers write one entity after another."""
        end = time.monotonic() + seconds
        counts = [0] * WRITERS

        def write(number):
            with self.stack.connect() as caller:
                while time.monotonic() < end:
                    counts[number] += 1
                    row = entity(str(number), str(counts[number]))
                    caller.insert_or_replace_entity(table=table, entity=row)
                    time.sleep(PAUSE_SECONDS)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(counts) / seconds

    @contextlib.contextmanager
    def changing(self, table):
        """A caller tries to change the catalogue again and again; returns the outcomes of its tries."""
        errors = []
        stop = threading.Event()

        def change():
            with self.stack.connect() as caller:
                while not stop.is_set():
                    try:
                        index = {"name": table + "By", "table": table, "shape": 1, "place": 2}
                        caller.create_index(index={**index, "partition_key": [{"property": "City"}]})
                        return
                    except ApiError as error:
                        errors.append(error)

        thread = threading.Thread(target=change)
        thread.start()
        try:
            yield errors
        finally:
            stop.set()
            thread.join()

    def test_writers_go_on_beside_a_change_that_waits(self):
        table = self.new_table()
        self.written_per_second(table, 1)
        alone = self.written_per_second(table, SECONDS)
        with self.stack.holding("select count(*) from (select from write_fence for key share) held"):
            with self.changing(table) as errors:
                self.stack.wait_for_lock_waiter()
                beside = self.written_per_second(table, 2 * SECONDS)
        print(f"writes/s: {alone:.0f} alone, {beside:.0f} beside a change that waits for the fence")
        self.assertGreater(beside, alone / 20)  # writers that waited would write nothing

    def test_a_change_that_cannot_be_made_says_why(self):
        table = self.new_table()
        with self.stack.holding("select count(*) from (select from write_fence for key share) held"):
            index = {"name": table + "By", "table": table, "shape": 1, "place": 2, "partition_key": [{"property": "City"}]}
            error = self.refused(
                "UNAVAILABLE", "CATALOGUE_CHANGE_BLOCKED", self.client.create_index, index=index, timeout=60
            )
        self.assertIn("psql", error.message)
        self.client.create_index(index=index)
        self.wait_ready(table + "By")


if __name__ == "__main__":
    unittest.main()
