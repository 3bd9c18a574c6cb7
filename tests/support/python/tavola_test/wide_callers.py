# SPDX-License-Identifier: Apache-2.0
"""A caller that writes wide entities, of which some hold contents of blobs, and reads them whole."""

from tavola_test import blobs
from tavola_test.callers import LOST, WIDE, Register, promise
from tavola_test.client import ApiError, entity, int32, key, match, plain, types
from tavola_test.outside_callers import StreamCaller, blob_content

ImportRequest = types.message("tavola.v1.ImportEntitiesRequest")
ScanRequest = types.message("tavola.v1.ScanEntitiesRequest")
ROWS = ("0", "1", "2")
LARGE = "large"  # the row whose entity is read and written in parts
HELD = "n150p"  # a property that holds a content, far from those that merges change
SMALL_COUNT, COUNT, LARGE_COUNT = 3, 300, 70
TEXT, LARGE_BYTES = "x" * 300, b"x" * 60_000  # of a property: COUNT of them are several rows, LARGE_COUNT more than 3 MiB


class WideWriter(StreamCaller):
    """Replaces, merges, shrinks, grows and deletes wide entities. All properties of an entity but two tell the number of the write that
    replaced it, and these two, its first and its last, that of the last write. A reader sees numbers of one version. Some merges put a
    content, which the entity holds until it is replaced or deleted, or another one is put.
    """

    def __init__(self, stack, name, seed, limbo):
        super().__init__(stack, name, seed)
        rows = [*ROWS, LARGE]
        self.replaced = {row: Register(limbo) for row in rows}
        self.merged = {row: Register(limbo) for row in rows}
        self.held = {row: Register(limbo) for row in rows}
        self.number = 0
        self.counts = {}  # of the properties, by the number of the replacement

    def turn(self):
        kind = self.random.random()
        row = self.random.choice(ROWS) if kind < 0.98 else LARGE
        if row == LARGE and kind < 0.985:
            self.replace_in_parts()
        elif kind < 0.15:
            self.replace(row, self.random.choice((SMALL_COUNT, COUNT, COUNT)))
        elif kind < 0.33:
            self.merge(row)
        elif kind < 0.4:
            self.merge_with_content(row)
        elif kind < 0.45:
            self.note_whole(row, None, lambda: self.delete(row))
        else:
            self.look(row)

    def note(self, row, number, registers, how):
        """how returns False if it has found no entity, and so has no effect."""
        done = self.attempt_to(how)
        for register in registers:
            if done:
                register[row].settle(number)
            elif done is None:
                register[row].maybe.append(number)

    def note_whole(self, row, number, how):
        """how writes or deletes the whole entity, with which goes what it holds."""
        done = self.attempt_to(how)
        for register, value in ((self.replaced, number), (self.merged, number), (self.held, None)):
            if done:
                register[row].settle(value)
            else:
                register[row].maybe.append(value)

    def bear_absence(self, row, how):
        try:
            how()
            return True
        except ApiError as error:
            if error.reason != "RESOURCE_NOT_FOUND":
                raise
            promise(self.replaced[row].allows(None), row, "an acknowledged entity is gone")
            return False

    def delete(self, row):
        self.bear_absence(row, lambda: self.client.delete_entity(
            table=WIDE, key=key((self.name, row)), precondition=match(), timeout=self.call_seconds))
        return True

    def next_number(self, count=0):
        self.number += 1
        self.counts[self.number] = count
        return self.number

    def replace(self, row, count):
        number = self.next_number(count)
        numbers = {f"n{n:03}": f"{number:08}{TEXT}" for n in range(count)}
        whole = entity(self.name, row, {**numbers, "a": int32(number), "z": int32(number)})
        self.note_whole(row, number, lambda: self.client.insert_or_replace_entity(table=WIDE, entity=whole, timeout=self.call_seconds))

    def merge(self, row):
        number = self.next_number()
        some = entity(self.name, row, {"a": int32(number), "z": int32(number)})
        self.note(row, number, [self.merged], lambda: self.bear_absence(row, lambda: self.client.merge_entity(
            table=WIDE, entity=some, precondition=match(), timeout=self.call_seconds)))

    def merge_with_content(self, row):
        number = self.next_number()
        some = entity(self.name, row, {"a": int32(number), "z": int32(number)})
        write = {"table": WIDE, "operation": {"merge": some, "precondition": match()}, "property": HELD}
        self.note(row, number, [self.merged, self.held], lambda: self.bear_absence(row, lambda: list(
            self.client.put_blob(blobs.messages("", blob_content(number), write=write)))))

    def replace_in_parts(self):
        number = self.next_number(LARGE_COUNT)
        numbers = [(f"n{n:03}", b"%08d" % number + LARGE_BYTES) for n in range(LARGE_COUNT)]
        half = LARGE_COUNT // 2
        parts = [ImportRequest(table=WIDE, entities=[entity(self.name, LARGE, dict([("a", int32(number)), *numbers[:half]]))], continues=True),
                 ImportRequest(entities=[entity(self.name, LARGE, dict([*numbers[half:], ("z", int32(number))]))])]

        def send():
            replies = list(self.client.import_entities(parts))
            promise(replies[-1].committed == 1 and not replies[-1].rejected, "an import was not answered as it should be", replies)
            return replies

        self.note_whole(LARGE, number, send)

    def read(self, row):
        """The properties, or None."""
        if row == LARGE:
            query = {"table": WIDE, "filter": f"PartitionKey eq '{self.name}' and RowKey eq '{LARGE}'"}
            parts = [part for message in self.client.scan_entities([ScanRequest(query=query, in_parts=True)]) for part in message.entities]
            promise(len({part.etag for part in parts}) <= 1, "a torn entity: its parts have several ETags")
            return {name: given for part in parts for name, given in plain(part).items()} or None
        try:
            return plain(self.client.get_entity(table=WIDE, key=key((self.name, row)), timeout=self.call_seconds).entity)
        except ApiError as error:
            if error.reason != "RESOURCE_NOT_FOUND":
                raise
            return None

    def held_number(self, row, reference):
        """The number of the content; None: the entity was written meanwhile, by a call without an answer."""
        try:
            data = blobs.get(self.client, reference=reference)[1]
        except ApiError as error:
            if error.reason != "BLOB_CHANGED":
                raise
            promise(self.held[row].maybe, row, "the content of an entity is gone", reference)
            return None
        promise(data == blob_content(int(data[:8])), "a torn content", row, data[:8])
        return int(data[:8])

    def numbers(self, row):
        """(the number of the replacement, of the last write, of the content)"""
        found = self.read(row)
        if found is None:
            return None, None, None
        held = None
        if HELD in found:
            held = self.held_number(row, found.pop(HELD))
            if held is None:
                return self.numbers(row)
        replaced = {int(given[:8]) for name, given in found.items() if name not in ("a", "z")}
        promise(len(replaced) == 1 and found["a"] == found["z"], "a torn entity", row, replaced, found["a"], found["z"])
        (number,) = replaced
        promise(len(found) == self.counts[number] + 2, "a torn entity", row, number, len(found))
        return number, found["a"], held

    def registers(self, row):
        return self.replaced[row], self.merged[row], self.held[row]

    def check(self, row, *numbers):
        for number, register in zip(numbers, self.registers(row)):
            promise(register.allows(number), "lost", row, number, register.acknowledged, register.maybe, kind=LOST)

    def look(self, row):
        found = self.attempt_to(lambda: self.numbers(row), is_write=False)
        if found:
            self.check(row, *found)

    def at_rest(self):
        for row in (*ROWS, LARGE):
            numbers = self.until_answered(lambda row=row: self.numbers(row))
            self.check(row, *numbers)
            for number, register in zip(numbers, self.registers(row)):
                register.settle(number)
