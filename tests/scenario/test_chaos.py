# SPDX-License-Identifier: Apache-2.0
"""A short run of chaos.py; ./dev chaos runs longer."""

import unittest

import chaos

SECONDS = 12
SEED = 7


class Chaos(unittest.TestCase):
    def test_a_short_storm(self):
        line, failure = chaos.run(SECONDS, SEED)
        print(line)
        self.assertIsNone(failure)
        self.assertTrue(line.endswith(", 0 lost, 0 duplicated, 0 index differences"), line)


if __name__ == "__main__":
    unittest.main()
