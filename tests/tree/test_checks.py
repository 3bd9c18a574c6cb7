#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checks of this folder find what they are for, in small trees made here."""

import os
import tempfile
import unittest

import check_columns
import check_names
import check_parameters
import check_proofs
import check_rooms
import check_width
import check_test_settings


def tree(files):
    folder = tempfile.TemporaryDirectory()
    for layer in set(check_names.LAYERS) | set(check_rooms.LAYERS):
        os.makedirs(os.path.join(folder.name, layer), exist_ok=True)
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder.name, path)), exist_ok=True)
        with open(os.path.join(folder.name, path), "w", encoding="utf-8") as file:
            file.write(text)
    return folder


def complaints(check, files):
    found = []
    with tree(files) as root:
        check(root, found.append)
    return found


class Rooms(unittest.TestCase):
    def test_rooms_may_include_each_other_one_way(self):
        self.assertEqual(complaints(check_rooms.check, {
            "store/a/x.c": '#include "store/b/y.h"\n',
            "store/b/y.h": '#include "store/sql.h"\n',
            "store/store.c": '#include "store/a/x.h"\n',
        }), [])

    def test_a_circle_is_named_with_its_files(self):
        found = complaints(check_rooms.check, {
            "domain/a/x.c": '#include "domain/b/y.h"\n',
            "domain/b/y.h": '#include "domain/c/z.h"\n',
            "domain/c/z.c": '#include "domain/a/x.h"\n',
        })
        self.assertEqual(len(found), 1)
        self.assertIn("a -> b (domain/a/x.c), b -> c (domain/b/y.h), c -> a (domain/c/z.c)", found[0])

    def test_a_room_does_not_include_the_door(self):
        found = complaints(check_rooms.check, {"store/a/x.c": '#include "store/store.h"\n'})
        self.assertEqual(found, ["store/a/x.c: a room may not include store/store.h, which stands above the rooms"])

    def test_modules_of_a_room_have_no_circle(self):
        found = complaints(check_rooms.check, {
            "store/a/x.c": '#include "store/a/y.h"\n#include "store/a/x.h"\n',
            "store/a/y.h": '#include "store/a/x.h"\n',
        })
        self.assertEqual(found, ["modules include each other in a circle: store/a/x -> store/a/y -> store/a/x"])

    def test_rooms_do_not_include_each_other_more_often_than_today(self):
        count = check_rooms.MAX_BETWEEN["store"]
        files = {f"store/a/x{i}.c": '#include "store/b/y.h"\n' for i in range(count + 1)}
        self.assertIn(f"{count + 1} includes", complaints(check_rooms.check, files)[0])
        pairs = check_rooms.MAX_PAIRS["store"]
        files = {f"store/a{i}/x.c": '#include "store/b/y.h"\n' for i in range(pairs + 1)}
        self.assertIn(f"{pairs + 1} pairs", complaints(check_rooms.check, files)[0])

    def test_a_chain_of_rooms_is_not_longer_than_its_bound(self):
        length = check_rooms.MAX_LEVELS["store"]
        files = {f"store/r{i}/x.c": f'#include "store/r{i + 1}/x.h"\n' for i in range(length)}
        self.assertIn("r0 -> r1", complaints(check_rooms.check, files)[0])
        del files["store/r0/x.c"]
        self.assertEqual(complaints(check_rooms.check, files), [])

    def test_a_room_is_not_larger_than_its_bound(self):
        files = {f"store/a/x{i}.c": "" for i in range(check_rooms.MAX_SOURCES + 1)}
        self.assertIn("it is two rooms", complaints(check_rooms.check, files)[0])


class TestSettings(unittest.TestCase):
    def test_each_setting_has_a_row_and_each_row_a_reader(self):
        found = complaints(check_test_settings.check, {
            "tests/README.md": "| `TEST_SEED` | a | b |\n| `TEST_GONE` | a | b |\n| `TAVOLA_POSTGRES` | a | b |\n",
            "tests/a/test_x.py": 'os.environ.get("TEST_SEED"), os.environ["TEST_NEW"], os.environ["PATH"]\n',
            "tests/a/test_y.c": 'getenv("TEST_OLD")\n',
        })
        self.assertEqual(found, [
            "tests/README.md: no row for TEST_NEW, which tests/a/test_x.py reads",
            "tests/README.md: no row for TEST_OLD, which tests/a/test_y.c reads",
            "tests/README.md: no test reads TEST_GONE",
        ])


class Names(unittest.TestCase):
    def test_tests_name_the_actor(self):
        found = complaints(check_names.check, {
            "tests/a/test_x.c": "/* nobody reads */\nSTART_TEST(" + "who_waits_is_told)\nSTART_TEST(a_key_whose_index_is_gone)\n",
            "tests/a/test_y.py": "def " + "test_x_that_nobody_reads(self):\ndef test_a_caller_whose_token_is_old(self):\n",
        })
        self.assertEqual(len(found), 3, found)

    def test_names_begin_with_the_file_or_a_type_of_it(self):
        self.assertEqual(complaints(check_names.check, {
            "rpc/channel.h": "struct rpc_stream;\nvoid rpc_channel_open(int a);\nvoid channel_close(void);\n"
                             "bool rpc_stream_send(struct rpc_stream *stream);\n",
            "rpc/call_parts.h": "/* void other(void); */\nMUST_USE enum status call_finish(\n    int a, int b);\n",
            "base/arena.h": "void *xmalloc(size_t size);\n",
        }), [])

    def test_another_name_is_told(self):
        found = complaints(check_names.check, {"store/a/x.h": "void other_run(void);\n"})
        self.assertEqual(found, ["store/a/x.h: other_run begins neither with the file's name nor with a type of this header"])

    def test_a_bound_is_max_or_min(self):
        found = complaints(check_names.check, {"store/a/x.c": "enum { MOST_ROWS = 1, ROWS_LEAST_X = 2 };\n"})
        self.assertEqual(len(found), 2)

    def test_private_words_are_told(self):
        words = ("int rows_most = 1, most_rows = 2;", "int letter_id;", "struct place row_place;", "int hand_back;", "/* its fate */", "/* Whoever waits */",
                 "static int take(void);", "static enum status look(int a);")
        for text in words:
            self.assertTrue(complaints(check_names.check, {"store/a/x.c": text + "\n"}), text)
        self.assertEqual(complaints(check_names.check, {"store/a/x.c": "int dead_letter_id, index_place;\nstatic int take_row(void);\n"}), [])


class Parameters(unittest.TestCase):
    SIX = "int a, int b, int c, int d, int e, void (*f)(int x, int y)"

    def test_six_parameters_are_allowed(self):
        self.assertEqual(complaints(check_parameters.check, {
            "store/a/x.c": f"/* int f({self.SIX}, int g); */\nstatic int f({self.SIX})\n{{\n    return g(1, 2, 3, 4, 5, 6, 7);\n}}\n"
                           "int none(void);\nstatic const int list[] = { 1, 2, 3, 4, 5, 6, 7 };\n",
        }), [])

    def test_seven_are_not_in_a_declaration_or_a_definition(self):
        self.assertEqual(complaints(check_parameters.check, {
            "domain/a/x.h": f"MUST_USE enum status x_run(\n    {self.SIX},\n    int g);\n",
            "tests/a/y.c": f"static struct z *y({self.SIX}, int g)\n{{\n}}\n",
        }), ["domain/a/x.h: x_run has 7 parameters; allowed are 6: pass a struct",
             "tests/a/y.c: y has 7 parameters; allowed are 6: pass a struct"])

    def test_parameters_that_a_library_dictates_are_allowed_by_name(self):
        path, function = next(iter(check_parameters.ALLOWED))
        self.assertEqual(complaints(check_parameters.check, {path: f"static int {function}({self.SIX}, int g)\n{{\n}}\n"}), [])


class Columns(unittest.TestCase):
    def test_columns_have_names(self):
        self.assertEqual(complaints(check_columns.check, {
            "store/a/x.c": "static bool f(void)\n{\n"
                           "    return pg_int8(rows, keys[i + 1], FEED_2) + pg_bool(rows, 0, first + FEED_N);\n}\n"
                           "/* pg_int8(rows, 0, 1) */\nint pg_int2(const PGresult *result, int row, int column);\n",
        }), [])

    def test_a_bare_number_is_told_with_its_line(self):
        found = complaints(check_columns.check, {
            "store/a/x.c": "/*\n */\n  x = PQgetisnull(rows, (int)i, 2) ? 0 : pg_int8(\n rows, 0, column + 1);\n"})
        self.assertEqual(found, ["store/a/x.c:3: PQgetisnull reads column 2: name it by an enum",
                                 "store/a/x.c:3: pg_int8 reads column column + 1: name it by an enum"])


class Proofs(unittest.TestCase):
    def test_what_is_there(self):
        self.assertEqual(complaints(check_proofs.check, {
            "docs/reliability.md": "| G8 x | `a_test_by_name` in `a/x.c`, `two_words` |\n",
            "docs/protocol.md": "| G8 x |\n",
            "tests/mutate/mutants.py": '    ("G8", [',
            "store/a/x.c": "START_TEST(a_test_by_name)\n",
        }), [])

    def test_what_is_not(self):
        self.assertEqual(complaints(check_proofs.check, {
            "docs/reliability.md": "| G8 x | `a_test_by_name`, `a/x.c` |\n",
            "docs/protocol.md": "| G9 x |\n",
            "tests/mutate/mutants.py": '    ("G9", [',
        }), ["docs/reliability.md: nothing is called a_test_by_name", "docs/reliability.md: there is no file a/x.c",
             "docs/reliability.md: G8 has no mutant", "docs/reliability.md: G9 is not in the table of guards"])


class Width(unittest.TestCase):
    def test_a_comment_keeps_to_the_width(self):
        self.assertEqual(complaints(check_width.check, {"store/a/x.h": " *\n/* " + "x" * 114 + " */\n" + "x" * 130}), [])
        self.assertEqual(complaints(check_width.check, {"store/a/x.h": "\n/* " + "x" * 115 + " */\n"}),
                         ["store/a/x.h:2: 121 columns, at most 120 for a comment"])

    def test_every_folder_with_c_and_the_protos_are_checked(self):
        self.assertEqual(complaints(check_width.check, {"client/dev/x.c": "/* " + "x" * 115 + " */\n"}),
                         ["client/dev/x.c:1: 121 columns, at most 120 for a comment"])
        self.assertEqual(complaints(check_width.check, {"api/v1/x.proto": "  // " + "x" * 116 + "\n" + "x" * 130}),
                         ["api/v1/x.proto:1: 121 columns, at most 120 for a comment"])


if __name__ == "__main__":
    unittest.main()
