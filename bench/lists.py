# SPDX-License-Identifier: Apache-2.0
"""Index entities, the three options: a list in a blob that the program replaces, and list indexes in the partition of the entities
and in another one. CPU of Tavola and of PostgreSQL for one more member, and for reading all keys, by the size of the list.
"""

from rows import Row

CLIENT = "list_client.py"
MEMBERS = (10, 1000, 100_000)
PLACES = {"Here": "same partition", "Elsewhere": "other partition"}
# CPU times come in hundredths of a second.
TURNS = {"add": {10: 400, 1000: 400, 100_000: 100}, "read": {10: 400, 1000: 200, 100_000: 20}}
_CPU = "cpu_us"

ROWS = [
    Row(f"{'one more member of' if what == 'add' else 'all keys of'} {members:,}: list index, {place} / blob",
        (f"{what} {members} {table}", _CPU), (f"{what} {members} blob", _CPU), "<=", unit="us")
    for what in TURNS for table, place in PLACES.items() for members in MEMBERS
]


class Lists:
    def __init__(self, product):
        self.product = product

    def prepare(self):
        """A table for each list. Only the building of its index needs the worker."""
        self.product.create(["ListedByHand"])
        self.product.start_worker()
        for members in MEMBERS:
            self.product.caller(CLIENT, "fill", "blob", members, 0)
            for table in PLACES:
                self.product.caller(CLIENT, "fill", f"{table}{members}", members, 0)
        self.product.stack.stop("worker")

    def measurements(self):
        return {
            f"{what} {members} {which}": lambda what=what, members=members, which=which: self.product.cost_of_caller(
                CLIENT, what, which if which == "blob" else f"{which}{members}", members, TURNS[what][members])
            for what in TURNS for members in MEMBERS for which in ("blob", *PLACES)
        }
