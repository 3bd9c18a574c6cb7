# SPDX-License-Identifier: Apache-2.0
"""Tests of sessions.py: the commands that it finds in a page, and the outputs that it takes as equal."""

import pathlib
import unittest

import sessions

ROOT = pathlib.Path(__file__).resolve().parents[2]


def read(*lines):
    return sessions.read("page.md", "\n".join(lines))


class Pages(unittest.TestCase):
    def test_commands_and_what_they_print(self):
        page = read("# Page", "", "    $ one", "    printed", "", "    more", "    $ two", "text", "```", "$ three", "```")
        self.assertEqual([(c.line, c.text, c.printed) for c in page.commands],
                         [(3, "one", ["printed", "", "more"]), (7, "two", []), (10, "three", [])])

    def test_a_command_goes_on_until_the_shell_would_run_it(self):
        page = read("    $ call A '{", "      \"a\": 1}'", "    {}", "    $ a \\", "        b", "    $ cat <<END", "    x", "    END", "    x")
        self.assertEqual([c.text for c in page.commands], ["call A '{\n  \"a\": 1}'", "a \\\n    b", "cat <<END\nx\nEND"])
        self.assertEqual([c.printed for c in page.commands], [["{}"], [], ["x"]])
        with self.assertRaisesRegex(sessions.BadPage, "page.md:1: the command has no end"):
            read("    $ call 'a")

    def test_what_is_not_run_says_why(self):
        page = read("<!-- not run: there is no such host -->", "", "    $ ssh db.example", "", "text", "", "    $ date")
        self.assertEqual((page.left_out, [c.text for c in page.commands]), ([(3, "there is no such host")], ["date"]))
        with self.assertRaisesRegex(sessions.BadPage, "without a session behind it"):
            read("<!-- not run: for nothing -->", "text")

    def test_a_command_that_would_never_run_is_refused(self):
        with self.assertRaisesRegex(sessions.BadPage, "page.md:3: a command without"):
            read("text", "", "    tavola health")
        self.assertEqual(read("    queue work", "    q0 reconcile").commands, [])

    def test_where_a_page_runs(self):
        page = read("<!-- continues README.md -->", "<!-- stack: TAVOLA_AUTHENTICATION=required -->", "    $ date")
        self.assertEqual((page.continues, page.settings), ("README.md", {"TAVOLA_AUTHENTICATION": "required"}))


    def test_the_pages_of_the_tree_are_as_they_should_be(self):
        names = {path.relative_to(ROOT).as_posix() for path in sessions.pages_of(ROOT)}
        for name in names:
            page = sessions.read(name, (ROOT / name).read_text())
            self.assertTrue(page.continues is None or page.continues in names, f"{name} continues {page.continues}")


class Outputs(unittest.TestCase):
    def test_the_same(self):
        for expected, printed in (
            ("{ \"a\": 1 }", "{\n  \"a\":  1\n}\n"),
            ("{ \"at\": \"2026-11-21T11:04:14.639352200Z\" }", "{\"at\": \"2027-01-02T03:04:05Z\"}"),
            ("{ \"etag\": \"W/\\\"1.1\\\"\" }", "{\"etag\":\"W/\\\"7.31.a0b1c2\\\"\"}"),
            ("{ \"a\": 1, ... }", "{\"a\": 1, \"b\": [{}]}"),
            ("\"resumeToken\": \"AQ\"", "\"resumeToken\":\"AgB_-x\""),
            ("\"at_least\": [\"AQ…\"]", "\"at_least\": [\"AgB_-x\"]"),
            ("build-2 is DONE", "build-17 is DONE"),
            ("first key tvk1.…", "first key  tvk1.abc-DEF_"),
            ("", "\n"),
        ):
            with self.subTest(expected=expected):
                self.assertTrue(sessions.matches(expected, printed))

    def test_not_the_same(self):
        for expected, printed in (
            ("{ \"a\": 1 }", "{ \"a\": 2 }"),
            ("{ \"a\": 1 }", "{ \"a\": 1 }, more"),
            ("{ \"a\": 1, ... }", "{ \"b\": 1, \"a\": 1 }"),
            ("build-2", "drop-2"),
            ("", "a word"),
            ("a word", ""),
        ):
            with self.subTest(expected=expected, printed=printed):
                self.assertFalse(sessions.matches(expected, printed))


if __name__ == "__main__":
    unittest.main()
