# SPDX-License-Identifier: Apache-2.0
"""Tests of check_patterns.py and pictures.py: what each complains of."""

import pathlib
import tempfile
import unittest

import check_patterns
import drawing
import pictures

COST = {"name": "a / b", "value": 5.0, "against_value": 100.0, "ratio": 0.05}


def table(head, *rows):
    return "\n".join([head, "|---|", *rows, ""])


class Forms(unittest.TestCase):
    def complaints(self, text):
        found = []
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs/patterns/images").mkdir(parents=True)
            (root / "docs/patterns/images/x.svg").touch()
            (root / "x.c").touch()
            check_patterns.check_form("a-page.md", text, root, found.append)
        return found

    @staticmethod
    def page(sections=check_patterns.SECTIONS, image="images/x.svg", script="a_page", file="x.c"):
        return "\n".join(f"## {title}\n" for title in sections) + f"`{file}`\n\n![x]({image})\n\n    $ examples/patterns/{script}.py\n"

    def test_a_page_of_the_form(self):
        self.assertEqual(self.complaints(self.page()), [])

    def test_what_is_missing_is_named(self):
        self.assertIn("its sections are", self.complaints(self.page(check_patterns.SECTIONS[:-1]))[0])
        self.assertEqual(self.complaints(self.page(image="images/y.svg")), ["a-page.md: there is no images/y.svg"])
        self.assertEqual(self.complaints(self.page(script="another")), ["a-page.md: its script is not run"])
        self.assertEqual(self.complaints(self.page(file="y.c")), ["a-page.md: there is no file y.c"])


class Causes(unittest.TestCase):
    def complaints(self, *rows):
        found = []
        check_patterns.check_causes("p", table(check_patterns.CAUSES, *rows), {"test_it"}, found.append)
        return found

    def test_each_row_names_a_test_that_exists(self):
        self.assertEqual(self.complaints("| a | b | `test_it` |"), [])
        self.assertEqual(self.complaints("| a | b | a test |"), ["p: no test shows: | a | b | a test |"])
        self.assertEqual(self.complaints("| a | b | `test_it`, `test_nothing` |"), ["p: there is no test test_nothing"])
        self.assertEqual(len(self.complaints()), 1)


class Costs(unittest.TestCase):
    def checked(self, row, update=False, costs=None):
        found = []
        text = table(check_patterns.COSTS, row)
        text = check_patterns.check_costs(pathlib.Path("p.md"), text, {"a / b": COST} if costs is None else costs, update, found.append)
        return text, found

    def test_numbers_are_those_of_the_bench(self):
        right = "| a read | 100 µs | 5.00 µs | 0.05 | `a / b` |"
        self.assertEqual(self.checked(right)[1], [])
        self.assertEqual(self.checked("| a read | 100 µs | 5.00 µs | 0.04 | `a / b` |")[1], [f"p.md: the bench says: {right}"])
        self.assertIn("no row", self.checked(right, costs={})[1][0])

    def test_an_update_writes_them(self):
        text, found = self.checked("| a read | | | | `a / b` |", update=True)
        self.assertIn("| a read | 100 µs | 5.00 µs | 0.05 | `a / b` |", text)
        self.assertEqual(found, [])

    def test_another_machine_may_differ_by_the_band(self):
        for ratio, count in ((0.05, 0), (0.09, 0), (0.11, 1), (0.02, 1)):
            found = []
            check_patterns.check_bench({"a / b": COST}, {"a / b": COST | {"ratio": ratio}}, found.append)
            self.assertEqual(len(found), count, ratio)


class Pictures(unittest.TestCase):
    def test_a_changed_picture_is_noticed_and_an_update_writes_it(self):
        found = []
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            for update, count in ((False, 1), (True, 1), (False, 1)):
                pictures.check(path, {"x.svg": "a"}, update, found.append)
                self.assertEqual(len(found), count)
            pictures.check(path, {"x.svg": "b"}, False, found.append)
        self.assertEqual(len(found), 2)

    def test_texts_are_escaped_and_fit(self):
        drawn = drawing.Drawing("a < b")
        drawn.text(0, 10, "<&>")
        self.assertIn("&lt;&amp;&gt;", drawn.svg())
        self.assertGreater(drawn.width, 3 * 7)


if __name__ == "__main__":
    unittest.main()
