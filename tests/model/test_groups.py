# SPDX-License-Identifier: Apache-2.0
"""Tests of the check of groups: whole pages pass, and each kind of torn page is noticed."""

import unittest

from groups import GROUPS, Group, torn


class Torn(unittest.TestCase):
    def test_a_page_of_one_generation_is_right(self):
        self.assertIsNone(torn([("a", 1)] * 3, {"a": 3}))

    def test_a_page_without_the_group_is_right_where_it_may_be_short(self):
        self.assertIsNone(torn([]))

    def test_groups_have_generations_of_their_own(self):
        self.assertIsNone(torn([("a", 1), ("b", 2), ("a", 1)]))

    def test_two_generations_are_noticed(self):
        self.assertIn("several generations", torn([("a", 1), ("a", 2)]))

    def test_what_is_missing_is_noticed(self):
        self.assertIn("has 2 entities of 3", torn([("a", 1)] * 2, {"a": 3}))
        self.assertIn("has 0 entities of 3", torn([("b", 1)], {"a": 3}))

    def test_what_is_too_much_is_noticed(self):
        self.assertIn("has 4 entities of 3", torn([("a", 1)] * 4, {"a": 3}))


class Content(unittest.TestCase):
    def test_half_is_marked_and_the_other_half_next(self):
        group = Group("g", 10, 0)
        marked = [[dict((n, v) for n, _, v in group.content(i, g))["Marked"] for i in range(10)] for g in (4, 5)]
        self.assertEqual([sum(half) for half in marked], [5, 5])
        self.assertTrue(all(one != other for one, other in zip(*marked)))

    def test_a_group_fits_one_batch_and_one_page(self):
        for group in GROUPS:
            self.assertLessEqual(len(group.contents(1)), 100)
            self.assertLess(group.size * (group.padding + 200), 3 * 1024 * 1024)


if __name__ == "__main__":
    unittest.main()
