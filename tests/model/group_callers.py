# SPDX-License-Identifier: Apache-2.0
"""The callers of the groups' table (groups.py): one that writes generations, and one that reads and checks."""

from calls import Member, key_of, message_of
from groups import GROUPS, SMALL, torn
from tavola_test import client

LATEST = {"latest": True}


class GroupWriter(Member):
    """Writes generation after generation. A lost answer says nothing: the next generation follows."""

    def __init__(self, world):
        super().__init__(world, "group writer")
        self.generation = 0
        self.known = {}
        for group in GROUPS:
            while not self.rewrite(group).reply:
                continue

    def operations(self, group):
        """Computed once: most of an entity does not change."""
        contents = group.contents(self.generation)
        if group not in self.known:
            messages = [message_of(*pair) for pair in contents.items()]
            self.known[group] = [client.BatchOperation(insert_or_replace=message) for message in messages]
        for operation, content in zip(self.known[group], contents.values()):
            properties = operation.insert_or_replace.properties
            (_, _, properties["Generation"].int64_value), (_, _, properties["Marked"].boolean_value) = content[:2]
        return self.known[group]

    def rewrite(self, group):
        self.generation += 1
        answer = self.caller.call("ExecuteBatch", table=self.world.groups, operations=self.operations(group))
        if answer.reply:
            self.world.done["generations"] += 1
        return answer

    def turn(self):
        self.rewrite(self.random.choice([SMALL] * 20 + GROUPS))


class GroupReader(Member):
    """Reads groups by pages, counts and look-ups."""

    def __init__(self, world, number, index):
        super().__init__(world, f"group reader {number}")
        self.index = index

    def turn(self):
        turns = [self.everything] + [self.marked, self.partition, self.count] * 3 + [self.look_up] * 2
        turn = self.random.choice(turns if self.index else turns[:-2])
        self.world.done["group reads"] += 1
        turn(self.random.choice([SMALL] * 4 + GROUPS))

    def answer(self, method, **fields):
        answer = self.caller.call_until_answered(method, **fields)
        if answer.error:
            raise answer.error
        return answer.reply

    def judge(self, page, expected, told):
        found = [(key_of(entity)[0], entity.properties["Generation"].int64_value) for entity in page.entities]
        wrong = torn(found, expected if not page.next_page_token else None)
        assert not wrong, f"{told}: {wrong}"

    def pages(self, filter, expected):
        """All pages of a query, of any size. Only if the first page is the last one, the answer is of one snapshot."""
        size = self.random.choice([0, 0, 30, 70])
        query = {"table": self.world.groups, "filter": filter, "descending": self.random.random() < 0.3}
        reply = self.answer("QueryEntities", query=query, page_size=size)
        self.judge(reply, expected, f"{query} by {size}")
        while reply.next_page_token:
            reply = self.answer("QueryEntities", query=query, page_size=size, page_token=reply.next_page_token)
            self.judge(reply, None, f"{query} by {size}")

    def everything(self, _):
        self.pages("Generation gt 0L", {group.name: group.size for group in GROUPS})

    def partition(self, group):
        self.pages(f"PartitionKey eq '{group.name}'", {group.name: group.size})

    def marked(self, group):
        self.pages(f"PartitionKey eq '{group.name}' and Marked eq true", {group.name: group.size // 2})

    def count(self, group):
        query = {"table": self.world.groups, "filter": f"PartitionKey eq '{group.name}' and Marked eq true"}
        reply = self.answer("CountEntities", query=query)
        assert not reply.next_page_token, reply
        assert reply.count == group.size // 2, f"{query}: {reply.count}, can only be {group.size // 2}"

    def look_up(self, _):
        """Entities are compared with their entries, which all exist once the index is ready."""
        freshness = self.random.choice([{}, LATEST])
        answer = self.caller.call_until_answered(
            "LookupIndex", index=self.index, equals=[client.value(SMALL.name)], freshness=freshness
        )
        if answer.reason in ("INDEX_NOT_READY", "NOT_FRESH_ENOUGH"):
            return
        if answer.error:
            raise answer.error
        self.judge(answer.reply, {SMALL.name: SMALL.size}, f"look-up {freshness}")
