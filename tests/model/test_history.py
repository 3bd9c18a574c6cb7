# SPDX-License-Identifier: Apache-2.0
"""Tests of the check of histories: right histories pass, and each kind of error is noticed."""

import random
import unittest

import filters
from history import (
    CONDITION,
    EXISTS,
    INITIAL,
    NEVER,
    NOT_FOUND,
    Change,
    Matches,
    Read,
    Write,
    check,
    count_bounds,
    expiring,
)

KEY = ("p", "r")


def content(number):
    return (("N", "int64", number),)


def put(called, answered, number, version=None, **more):
    return Write(Change("insert_or_replace", KEY, content(number)), called, answered, version=version, **more)


def drop(called, answered, reason=None):
    return Write(Change("delete", KEY, if_match="*"), called, answered, reason)


def see(called, answered, number, version):
    return Read(KEY, called, answered, content(number), version)


def see_nothing(called, answered):
    return Read(KEY, called, answered, None)


def put_until(end, called, answered, number, version):
    change = Change("insert_or_replace", KEY, expiring(content(number), end))
    return Write(change, called, answered, version=version)


def see_until(end, called, answered, number, version):
    return Read(KEY, called, answered, expiring(content(number), end), version)


class Right(unittest.TestCase):
    def holds(self, *events):
        verdict = check(list(events))
        self.assertTrue(verdict.holds, verdict.explanation)

    def test_nothing_at_all(self):
        self.holds()

    def test_calls_in_turn(self):
        self.holds(put(0, 1, 1, 10), see(2, 3, 1, 10), drop(4, 5), see_nothing(6, 7), drop(8, 9, NOT_FOUND))

    def test_a_read_beside_a_write_may_see_either_state(self):
        self.holds(put(0, 1, 1, 10), put(2, 9, 2, 11), see(3, 4, 1, 10), see(5, 6, 2, 11))

    def test_two_writes_at_once_come_in_the_order_of_their_versions(self):
        self.holds(put(0, 9, 1, 12), put(1, 8, 2, 11), see(10, 11, 1, 12))

    def test_an_unanswered_write_has_happened(self):
        self.holds(put(0, 1, 1, 10), put(2, NEVER, 2), see(5, 6, 1, 10), see(7, 8, 2, 11))

    def test_an_unanswered_write_has_not_happened(self):
        self.holds(put(0, 1, 1, 10), put(2, NEVER, 2), see(5, 6, 1, 10), put(7, 8, 3, 11), see(9, 10, 3, 11))

    def test_an_unanswered_delete_explains_what_is_not_there(self):
        self.holds(put(0, 1, 1, 10), drop(2, NEVER), see_nothing(3, 4))

    def test_a_condition_that_failed_tells_what_is_stored(self):
        change = Change("replace", KEY, content(3), if_match=10)
        told = Write(change, 4, 5, CONDITION, current=(content(2), 11))
        self.holds(put(0, 1, 1, 10), put(2, NEVER, 2), told, see(6, 7, 2, 11))

    def test_merges_keep_what_they_do_not_name(self):
        change = Change("merge", KEY, (("A", "string", "a"),), if_match="*")
        after = Read(KEY, 4, 5, (("A", "string", "a"), ("N", "int64", 1)), 11)
        self.holds(put(0, 1, 1, 10), Write(change, 2, 3, version=11), after)

    def test_an_entity_is_there_until_it_expires(self):
        self.holds(put_until(5, 0, 1, 1, 10), see_until(5, 2, 3, 1, 10), see_nothing(6, 7), drop(8, 9, NOT_FOUND))

    def test_a_read_at_the_time_of_expiry_may_see_either_state(self):
        self.holds(put_until(5, 0, 1, 1, 10), see_nothing(4, 6), see_until(5, 4.5, 6, 1, 10))

    def test_what_has_expired_can_be_inserted_and_lasts(self):
        again = Write(Change("insert", KEY, content(2)), 6, 7, version=11)
        self.holds(put_until(5, 0, 1, 1, 10), again, see(8, 9, 2, 11))

    def test_a_merge_leaves_the_expiry(self):
        merge = Write(Change("merge", KEY, content(2), if_match="*"), 2, 3, version=11)
        self.holds(put_until(5, 0, 1, 1, 10), merge, see_until(5, 3, 4, 2, 11), see_nothing(6, 7))

    def test_a_step_that_deletes_what_is_not_there(self):
        self.holds(Write(Change("delete_if_exists", KEY), 0, 1), see_nothing(2, 3))

    def test_a_guarded_step_needs_an_entity(self):
        for kind in ("insert_or_replace", "insert_or_merge", "delete_if_exists"):
            guarded = Change(kind, KEY, () if kind == "delete_if_exists" else content(1), if_match="*")
            self.holds(Write(guarded, 0, 1, NOT_FOUND), see_nothing(2, 3))

    def test_many_callers_with_many_unanswered_calls(self):
        numbers = random.Random(1)
        events = []
        for i in range(300):
            events.append(put(i, i + 0.5, i, i + 1000))
            events.append(see(i + 0.6, i + 0.9, i, i + 1000))
            if numbers.random() < 0.1:
                events.append(put(i + 0.1, NEVER, -i))
        self.holds(*events)


class Wrong(unittest.TestCase):
    def fails(self, *events):
        verdict = check(list(events))
        self.assertIs(verdict.holds, False)
        self.assertIn("no order explains this", verdict.explanation)

    def test_a_lost_write(self):
        self.fails(put(0, 1, 1, 10), put(2, 3, 2, 11), see(4, 5, 1, 10))

    def test_a_guarded_step_without_an_entity(self):
        self.fails(Write(Change("delete_if_exists", KEY, if_match="*"), 0, 1), see_nothing(2, 3))

    def test_a_lost_insert(self):
        self.fails(Write(Change("insert", KEY, content(1)), 0, 1, version=10), see_nothing(2, 3))

    def test_a_write_that_goes_back_in_time(self):
        self.fails(put(0, 1, 1, 10), put(2, 9, 2, 11), see(3, 4, 2, 11), see(5, 6, 1, 10))

    def test_a_read_of_content_that_was_never_written(self):
        self.fails(put(0, 1, 1, 10), see(2, 3, 7, 11))

    def test_a_version_that_does_not_grow(self):
        self.fails(put(0, 1, 1, 10), drop(2, 3), put(4, 5, 1, 10))

    def test_a_write_done_twice(self):
        self.fails(put(0, 1, 1, 10), see(2, 3, 1, 11))

    def test_two_inserts_that_both_succeed(self):
        insert = Change("insert", KEY, content(1))
        self.fails(Write(insert, 0, 9, version=10), Write(insert, 1, 8, version=11))

    def test_an_insert_refused_where_nothing_was(self):
        self.fails(Write(Change("insert", KEY, content(1)), 0, 1, EXISTS))

    def test_two_writes_on_the_same_etag(self):
        first = Change("replace", KEY, content(2), if_match=10)
        second = Change("replace", KEY, content(3), if_match=10)
        self.fails(put(0, 1, 1, 10), Write(first, 2, 9, version=11), Write(second, 3, 8, version=12))

    def test_a_condition_that_was_not_asked(self):
        condition = filters.comparison("N", "gt", ("int64", 5), "5L")
        change = Change("replace", KEY, content(9), if_match="*", condition=condition)
        self.fails(put(0, 1, 1, 10), Write(change, 2, 3, version=11))

    def test_an_answer_before_the_call(self):
        self.fails(see(0, 1, 1, 10), put(2, 3, 1, 10))

    def test_an_unanswered_write_seen_before_it_was_made(self):
        self.fails(see(0, 1, 2, 11), put(2, NEVER, 2))

    def test_a_merge_that_forgets(self):
        change = Change("merge", KEY, (("A", "string", "a"),), if_match="*")
        self.fails(put(0, 1, 1, 10), Write(change, 2, 3, version=11), Read(KEY, 4, 5, change.content, 11))

    def test_an_entity_that_a_query_missed(self):
        self.fails(put(0, 1, 1, 10), Matches(KEY, 2, 3, None, found=False))

    def test_a_batch_that_was_applied_in_part(self):
        passed = Write(Change("insert", KEY, content(1)), 0, 1, is_applied=False)
        self.fails(passed, see(2, 3, 1, 10))

    def test_an_entity_that_outlives_its_expiry(self):
        self.fails(put_until(5, 0, 1, 1, 10), see_until(5, 6, 7, 1, 10))

    def test_an_entity_that_goes_before_its_expiry(self):
        self.fails(put_until(5, 0, 1, 1, 10), see_nothing(2, 3))

    def test_a_version_that_comes_again_after_an_expiry(self):
        self.fails(put_until(5, 0, 1, 1, 10), put(6, 7, 1, 10))

    def test_a_step_done_twice(self):
        step = Write(Change("insert_or_replace", KEY, content(1)), 0, 9, version=10)
        self.fails(step, put(1, 2, 2, 11), see(3, 4, 1, 12))

    def test_a_step_that_was_not_there_before_it(self):
        self.fails(Write(Change("insert_or_replace", KEY, content(1)), 0, 1, version=11, current=(None, 10)))

    def test_any_single_answer_of_a_long_history_that_is_exchanged(self):
        """Mutants of a history of two callers: each is noticed."""
        numbers = random.Random(2)
        for _ in range(100):
            events = []
            for i in range(40):
                events.append(put(i, i + 0.5, i, i + 1000))
                events.append(see(i + 0.4, i + 0.9, i, i + 1000))
            victim = numbers.choice([event for event in events if isinstance(event, Read)])
            victim.content = content(numbers.choice([i for i in range(40) if content(i) != victim.content]))
            self.fails(*events)


class Counts(unittest.TestCase):
    def test_bounds_follow_what_is_known(self):
        histories = {("p", str(i)): [] for i in range(4)}
        for i in range(3):
            change = Change("insert", ("p", str(i)), content(i))
            histories["p", str(i)].append(Write(change, 0, 1 if i < 2 else NEVER, version=1 if i < 2 else None))
        self.assertEqual(count_bounds(histories, list(histories), None, 5, 6), (2, 3))
        five = filters.comparison("N", "ge", ("int64", 1), "1L")
        self.assertEqual(count_bounds(histories, list(histories), five, 5, 6), (1, 2))


class Filters(unittest.TestCase):
    """A few rows of the truth table of docs/filters.md; the service is compared with the rest by the campaign."""

    def test_rows_of_the_truth_table(self):
        for stored, text, expected in (
            (("int32", 5), "5L", "less"),
            (("int64", 6), "5", "greater"),
            (("double", filters.packed(5.0)), "5L", "equal"),
            (("double", filters.packed(float("nan"))), "5", "unordered"),
            (("double", filters.packed(float("nan"))), "true", "less"),
            (("int32", 5), "NaN", "less"),
            (("boolean", True), "false", "greater"),
            (("binary", b"\x05\x00"), "X'05'", "greater"),
            (None, "5", "missing"),
        ):
            literal = dict(filters.LITERALS) | {"5": ("int32", 5)}
            self.assertEqual(filters.compare(stored, literal[text]), expected, (stored, text))

    def test_not_of_what_is_missing_is_true(self):
        some = filters.comparison("P", "eq", ("int32", 1), "1")
        self.assertFalse(some.holds(KEY, ()))
        self.assertTrue(filters.negation(some).holds(KEY, ()))
        self.assertEqual(INITIAL[0], None)


if __name__ == "__main__":
    unittest.main()
