# SPDX-License-Identifier: Apache-2.0
"""Groups: all entities of a partition are rewritten by one batch, again and again, while pages are read.

Each rewriting is a generation. A page is one snapshot, whatever its size and filter, so what it has of a group is of one
generation; and where an answer is one page, it has everything of the group that matches. Half of a group is marked, the
first half in one generation, the second one in the next.
"""

import collections


class Group:
    """Its entities, and their properties in a generation."""

    def __init__(self, name, size, padding, is_indexed=False):
        self.name = name
        self.size = size
        self.padding = padding
        self.is_indexed = is_indexed

    def content(self, number, generation):
        is_marked = (number < self.size // 2) == (generation % 2 == 0)
        content = [("Generation", "int64", generation), ("Marked", "boolean", is_marked)]
        if self.is_indexed:
            content.append(("Group", "string", self.name))
        if self.padding:
            content.append(("Padding", "binary", b"." * self.padding))
        return tuple(content)

    def contents(self, generation):
        """By key: the entities that one batch writes."""
        return {(self.name, f"{number:03}"): self.content(number, generation) for number in range(self.size)}


# With a filter a page of the small group needs a second statement; a page of the large groups always does.
SMALL = Group("small", 100, 0, is_indexed=True)
GROUPS = [SMALL, Group("middle", 80, 32_000), Group("large", 50, 50_000)]


def torn(page, expected=None):
    """What is wrong with a page; None: nothing. page: (group, generation) of each entity. expected: {group: how many}
    if the page is known to be all of the answer."""
    generations = collections.defaultdict(collections.Counter)
    for group, generation in page:
        generations[group][generation] += 1
    for group, counted in generations.items():
        if len(counted) > 1:
            return f"{group} is of several generations: {dict(counted)}"
    for group, count in (expected or {}).items():
        found = sum(generations[group].values())
        if found != count:
            return f"{group} has {found} entities of {count}"
    return None
