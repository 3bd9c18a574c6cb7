# SPDX-License-Identifier: Apache-2.0
"""The in-memory reference for one key, and the search for an order in which it explains what callers saw.

The state of a key is (content, version, least):

  content  what is stored, None: no entity. Its expiry is a property without a name
  version  of this content; None: the answer to the write was lost. The first read of it tells
  least    every version to come is greater, also after a delete

An event is a call, cut down to one key: when it was made, when it was answered, and how it moves the state. A
history is linearizable when its events can be put in an order that keeps every two that did not overlap, and in
which each finds the state that its answer tells of (Wing and Gong's search, with Lowe's memory of what was tried).
A call without an answer may have happened at any time after it was made, or never.

An entity is there until its expiry, by a clock that every call reads once between its two times.
"""

import math
import time

NEVER = math.inf
INITIAL = (None, 0, 0)

NOT_FOUND = "RESOURCE_NOT_FOUND"
EXISTS = "ENTITY_ALREADY_EXISTS"
CONDITION = "UPDATE_CONDITION_NOT_SATISFIED"
FOREIGN = -1  # the version of a well-formed ETag that no entity has

EXPIRES = ("", "expires")
TICKS_PER_SECOND = 10**7
WALL_CLOCK = time.time() - time.monotonic()  # all times here are of the monotonic clock
CLOCK_SLACK = 0.002

UPSERTS = ("insert_or_replace", "insert_or_merge")
NEED_NOTHING = (*UPSERTS, "delete_if_exists")  # an absent entity refuses nothing, unless there is a precondition
MERGES = ("merge", "insert_or_merge")
DELETES = ("delete", "delete_if_exists")


def expiring(content, moment):
    """The content, with an end at a moment of the monotonic clock."""
    return (*EXPIRES, round((moment + WALL_CLOCK) * TICKS_PER_SECOND)), *content


def due(content):
    """The time at which it expires."""
    if content and content[0][:2] == EXPIRES:
        return content[0][2] / TICKS_PER_SECOND - WALL_CLOCK
    return NEVER


class Event:
    """One call as it concerns one key."""

    def __init__(self, key, called, answered):
        self.key = key
        self.called = called
        self.answered = answered

    def step(self, state):
        """The possible states after it; empty: it cannot have happened here."""
        found = []
        if state[0] is not None and self.called < due(state[0]) + CLOCK_SLACK:
            found.append(state[0])
        if state[0] is None or self.answered > due(state[0]) - CLOCK_SLACK:
            found.append(None)
        afters = [self.step_from(state, content) for content in found]
        return [after for after in afters if after is not None]

    def step_from(self, state, content):
        """The state after it if it finds this content; None: it cannot have happened then."""
        raise NotImplementedError

    def __repr__(self):
        times = f"{self.called:.6f} .. {self.answered:.6f}"
        return f"{times} {type(self).__name__} {self.describe()}"


def bound(state, version):
    """The state once its version was seen; None: the version is another one."""
    content, known, least = state
    if known is None:
        return (content, version, version) if version > least else None
    return state if known == version else None


class Read(Event):
    """A read returned the entity, or that there is none. of: maps contents to the part that was read."""

    def __init__(self, key, called, answered, content, version=0, of=None):
        super().__init__(key, called, answered)
        self.content = content
        self.version = version
        self.of = of or (lambda content: content)

    def step_from(self, state, content):
        if content is None or self.content is None:
            return state if content is None and self.content is None else None
        return bound(state, self.version) if self.of(content) == self.content else None

    def describe(self):
        return f"{self.key} -> {self.content} version {self.version}"


class Matches(Event):
    """A query did or did not find the entity."""

    def __init__(self, key, called, answered, filter, found=False):
        super().__init__(key, called, answered)
        self.filter = filter
        self.found = found

    def step_from(self, state, content):
        found = content is not None and (self.filter is None or self.filter.holds(self.key, content))
        return state if found == self.found else None

    def describe(self):
        return f"{self.key} {'in' if self.found else 'not in'} {self.filter}"


class Change:
    """The conditions of a write. if_match: None, "*" or a version. Only steps of transactions have guarded upserts."""

    def __init__(self, kind, key, content=(), if_match=None, condition=None):
        self.kind = kind
        self.key = key
        self.content = content
        self.if_match = if_match
        self.condition = condition

    def refusal(self, content, version):
        """Why the stored entity refuses it; None: it does not."""
        if self.kind == "insert":
            return None if content is None else EXISTS
        if content is None:
            is_guarded = self.kind not in NEED_NOTHING or self.if_match or self.condition
            return NOT_FOUND if is_guarded else None
        if self.if_match not in (None, "*") and self.if_match != version:
            return CONDITION
        if self.condition and not self.condition.holds(self.key, content):
            return CONDITION
        return None

    def result(self, content):
        """The content afterwards."""
        if self.kind in DELETES:
            return None
        if self.kind not in MERGES or content is None:
            return self.content
        merged = {name: (kind, payload) for name, kind, payload in content}
        merged.update((name, (kind, payload)) for name, kind, payload in self.content)
        return tuple(sorted((name, *value) for name, value in merged.items()))

    def __repr__(self):
        guard = f" if_match {self.if_match} condition {self.condition}" if self.if_match or self.condition else ""
        return f"{self.kind} {self.key} {self.content}{guard}"


class Write(Event):
    """A write and its answer: reason None is success. current: what the answer told of the entity before.

    version None: it is not known, as after an import. is_applied false: it would have succeeded, but its batch did not.
    """

    def __init__(self, change, called, answered, reason=None, version=None, current=None, is_applied=True):
        super().__init__(change.key, called, answered)
        self.change = change
        self.reason = reason
        self.version = version
        self.current = current
        self.is_applied = is_applied

    def tell(self, state, content):
        """The state with the version that the answer shows; None: the answer is about another state."""
        if self.current:
            told_content, told_version = self.current
            fits = content is not None and told_content in (None, content)
            return bound(state, told_version) if fits else None
        if content is None:
            return state
        if state[1] is None and self.reason is None and self.change.if_match not in (None, "*"):
            return bound(state, self.change.if_match)
        return state

    def step_from(self, state, content):
        state = self.tell(state, content)
        if state is None or self.change.refusal(content, state[1]) != self.reason:
            return None
        if self.reason or not self.is_applied:
            return state
        least = state[2]
        if content is None and self.change.kind in DELETES:
            return state
        content = self.change.result(content)
        if content is None:
            return (None, 0, least)
        if self.version is None:
            return (content, None, least)
        return (content, self.version, self.version) if self.version > least else None

    def describe(self):
        applied = "" if self.is_applied else " (not applied)"
        return f"{self.change} -> {self.reason or 'OK'} version {self.version} current {self.current}{applied}"


class Verdict:
    """holds: True, False, or None if the search was given up. explanation: how far it came."""

    def __init__(self, holds, explanation=""):
        self.holds = holds
        self.explanation = explanation


class Search:
    """The history of one key."""

    def __init__(self, events, budget):
        self.known = sorted((event for event in events if event.answered != NEVER), key=lambda event: event.called)
        self.maybe = [event for event in events if event.answered == NEVER]
        self.budget = budget
        self.everything = (1 << len(self.known)) - 1
        self.deepest = ((), INITIAL)

    def open_calls(self, done, first):
        """Indexes of the answered calls that can be next: those made before any other remaining one was answered."""
        out = []
        end = NEVER
        for i in range(first, len(self.known)):
            event = self.known[i]
            if event.called > end:
                break
            if not done >> i & 1:
                out.append(i)
                end = min(end, event.answered)
        return [i for i in out if self.known[i].called <= end], end

    def moves(self, node):
        """(node, event) for every event that can be next, the likeliest last."""
        done, used, first, state = node
        while done >> first & 1:
            first += 1
        calls, end = self.open_calls(done, first)
        out = []
        for i in calls:
            for after in self.known[i].step(state):
                move = ((done | 1 << i, used, first, after), self.known[i])
                if after == state:
                    return [move]  # an event that changes nothing and is possible now need not wait
                out.append(move)
        # Calls without an answer come last: they are needed only for what no other call explains.
        unknown = []
        for i, event in enumerate(self.maybe):
            if not used >> i & 1 and event.called <= end:
                for after in event.step(state):
                    if after != state:
                        unknown.append(((done, used | 1 << i, first, after), event))
        return unknown[::-1] + out[::-1]

    def run(self):
        root = (0, 0, 0, INITIAL)
        seen = {(0, 0, INITIAL)}
        path = []
        stack = [self.moves(root)]
        while stack:
            if len(path) and path[-1][0][0] == self.everything or self.everything == 0:
                return Verdict(True)
            if len(path) > len(self.deepest[0]):
                self.deepest = (tuple(event for _, event in path), path[-1][0][3])
            if not stack[-1]:
                stack.pop()
                if path:
                    path.pop()
                continue
            move = stack[-1].pop()
            done, used, _, state = move[0]
            if (done, used, state) in seen:
                continue
            seen.add((done, used, state))
            if len(seen) > self.budget:
                return Verdict(None, f"given up after {self.budget} states of {len(self.known)} events")
            path.append(move)
            stack.append(self.moves(move[0]))
        return Verdict(False, self.explain())

    def explain(self):
        order, state = self.deepest
        left = [event for event in self.known if event not in order]
        lines = ["no order explains this; the longest one that explains a part ends with"]
        lines += [f"    {event}" for event in order[-12:]]
        lines += [f"  which leaves {state}", "  and then there is no way to go on with"]
        lines += [f"    {event}" for event in left[:8]]
        lines += ["  nor with these, which were never answered"]
        lines += [f"    {event}" for event in self.maybe if event not in order]
        return "\n".join(lines)


def check(events, budget=300_000):
    """Whether one key can have answered like this."""
    return Search(events, budget).run()


def count_bounds(histories, keys, filter, called, answered):
    """The least and the greatest number of matches at any moment between the two times. Later events are not
    considered.
    """
    least = most = 0
    for key in keys:
        before = [event for event in histories.get(key, []) if event.called < answered]
        before = [event if event.answered <= answered else as_unanswered(event) for event in before]
        before = [event for event in before if event]
        possible = [check(before + [Matches(key, called, answered, filter, found)]).holds for found in (False, True)]
        least += possible[0] is False
        most += possible[1] is not False
    return least, most


def as_unanswered(event):
    """A call that was answered later may have happened by now; None: the call changes nothing."""
    if isinstance(event, Write) and event.reason is None and event.is_applied:
        return Write(event.change, event.called, NEVER, version=event.version)
    return None
