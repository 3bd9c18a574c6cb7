# SPDX-License-Identifier: Apache-2.0
"""Tests of bench/rows.py: how the bench compares figures."""

import contextlib
import io
import json
import os
import tempfile
import unittest

import wire
from rows import WORST, Results, Row, excuse, judge, print_judged, print_measured, write_json

GET = Row("get / echo", ("get", "rate"), ("echo", "rate"), must=0.8, aim=1.0)
CPU = Row("CPU", ("get", "us"), ("echo", "us"), "<=", must=1.2, aim=1.0)


def fail():
    raise RuntimeError("no luck")


def seen(**rounds):
    results = Results()
    for name, figures in rounds.items():
        for figure in figures:
            results.take(name, lambda figure=figure: figure)
    return results


class Judging(unittest.TestCase):
    def test_the_median_of_ratios_within_rounds_counts(self):
        # In the third round the machine was half as fast for both sides, so its ratio is as good as any.
        results = seen(get=[{"rate": 90}, {"rate": 70}, {"rate": 45}], echo=[{"rate": 100}, {"rate": 100}, {"rate": 50}])
        judged = judge(GET, results)
        self.assertEqual(judged.ratio, 0.9)
        self.assertEqual(judged.verdict, "must")

    def test_a_round_whose_sides_saw_processors_of_different_speed_does_not_count(self):
        results = seen(get=[{"rate": 90, "loop_us": 60}, {"rate": 10, "loop_us": 90}, {"rate": 80, "loop_us": 91}],
                       echo=[{"rate": 100, "loop_us": 61}, {"rate": 100, "loop_us": 60}, {"rate": 100, "loop_us": 90}])
        judged = judge(GET, results)
        self.assertAlmostEqual(judged.ratio, 0.85)
        self.assertEqual((judged.rounds, judged.all_rounds), (2, 3))

    def test_a_round_in_which_the_host_gave_the_processors_to_others_does_not_count(self):
        results = seen(get=[{"rate": 90, "stolen": 1}, {"rate": 10, "stolen": 17}, {"rate": 80, "stolen": 0}],
                       echo=[{"rate": 100, "stolen": 2}, {"rate": 100, "stolen": 0}, {"rate": 100, "stolen": 1}])
        judged = judge(GET, results)
        self.assertAlmostEqual(judged.ratio, 0.85)
        self.assertEqual(judged.rounds, 2)

    def test_three_rounds_are_enough_to_leave_out_any_number(self):
        for quiet, counted in ((3, 3), (2, 9)):
            shares = [0] * quiet + [17] * (9 - quiet)
            results = seen(get=[{"rate": 90, "stolen": share} for share in shares], echo=[{"rate": 100}] * 9)
            self.assertEqual(judge(GET, results).rounds, counted)

    def test_all_rounds_count_if_too_few_compare_like_with_like(self):
        results = seen(get=[{"rate": 90, "loop_us": 60}, {"rate": 80, "loop_us": 60}, {"rate": 70, "loop_us": 60}],
                       echo=[{"rate": 100, "loop_us": 60}, {"rate": 100, "loop_us": 90}, {"rate": 100, "loop_us": 90}])
        judged = judge(GET, results)
        self.assertEqual((judged.ratio, judged.rounds), (0.8, 3))

    def test_the_measurement_that_a_load_rests_on_is_compared_too(self):
        row = Row("at 80 %", ("at", "us"), ("alone", "us"), "<=", rests_on=("maximum",))
        results = seen(at=[{"us": 9, "loop_us": 60}, {"us": 3, "loop_us": 60}],
                       alone=[{"us": 1, "loop_us": 60}, {"us": 1, "loop_us": 60}],
                       maximum=[{"rate": 9, "loop_us": 40}, {"rate": 9, "loop_us": 60}])
        self.assertEqual(judge(row, results).ratio, 3)

    def test_less_is_better_where_the_sense_says_so(self):
        judged = judge(CPU, seen(get=[{"us": 13}], echo=[{"us": 10}]))
        self.assertTrue(judged.missed)
        self.assertEqual(judge(CPU, seen(get=[{"us": 9}], echo=[{"us": 10}])).verdict, "aim")

    def test_a_bound_is_compared_with_as_it_is(self):
        judged = judge(Row("memory", ("idle", "bytes"), 40.0, "<=", must=1), seen(idle=[{"bytes": 30}]))
        self.assertEqual(judged.ratio, 0.75)
        self.assertEqual(judged.as_json()["against"], "bound")

    def test_a_measurement_that_failed_fails_its_rows_alone(self):
        results = seen(echo=[{"rate": 1, "us": 1}], other=[{"rate": 1}])
        self.assertFalse(results.take("get", fail))
        for row, worst in ((GET, 0), (CPU, WORST)):
            judged = judge(row, results)
            self.assertEqual(judged.verdict, "FAILED")
            self.assertTrue(judged.missed)
            self.assertEqual(judged.as_json()["ratio"], worst)
            self.assertIn("no luck", judged.as_json()["error"])
        self.assertIsNone(judge(Row("a", ("other", "rate"), ("echo", "rate")), results).error)

    def test_one_form_of_a_rule_is_enough(self):
        rows = [Row(name, (name, "rate"), 10.0, must=0.5, either=rule)
                for name, rule in (("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"), ("e", ""))]
        results = seen(**{name: [{"rate": rate}] for name, rate in zip("abcde", (1, 5, 1, 4, 1))})
        judged = [judge(row, results) for row in rows]
        excuse(judged)
        self.assertEqual([one.verdict for one in judged], ["other form", "must", "MISSED", "MISSED", "MISSED"])
        self.assertEqual([one.missed for one in judged], [False, False, True, True, True])

    def test_a_row_that_was_not_asked_for_is_left_out_and_one_that_failed_is_not(self):
        results = seen(echo=[{"rate": 1}])
        self.assertIsNone(judge(GET, results))
        results.broken = "no database"
        self.assertEqual(judge(GET, results).error, "no database")

    def test_tables_are_printed_whatever_failed(self):
        results = seen(echo=[{"rate": 1}], idle=[{"bytes": 1}])
        results.take("get", fail)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            print_measured(results)
            print_judged([judge(GET, results)], results)
        self.assertEqual(out.getvalue().count("failed: get: RuntimeError: no luck\n"), 1)

    def test_a_failure_is_told_though_no_row_compares_it(self):
        results = seen(echo=[{"rate": 1}])
        results.take("load", fail)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            print_judged([], results)
        self.assertIn("failed: load: RuntimeError: no luck", out.getvalue())


class Writing(unittest.TestCase):
    def test_rows_are_added_to_a_file_or_replace_it(self):
        old, new = (judge(GET, seen(get=[{"rate": rate}], echo=[{"rate": 10}])) for rate in (1, 9))
        other = judge(Row("other", ("get", "rate"), 1.0), seen(get=[{"rate": 1}]))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bench.json")
            write_json(path, [old, other], keep=False)
            write_json(path, [new], keep=True)
            with open(path, encoding="utf-8") as file:
                self.assertEqual([(row["name"], row["ratio"]) for row in json.load(file)], [("other", 1), ("get / echo", 0.9)])
            write_json(path, [new], keep=False)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(len(json.load(file)), 1)


class Messages(unittest.TestCase):
    def test_fields_are_read_as_they_were_written(self):
        self.assertEqual(wire.fields(wire.message((1, "text"), (2, 300), (15, [(1, 1)]))), [(1, b"text"), (2, 300), (15, b"\x08\x01")])


if __name__ == "__main__":
    unittest.main()
