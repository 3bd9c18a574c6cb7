# SPDX-License-Identifier: Apache-2.0
"""The demo's live line: phase, rates, lag, and the last disturbance."""

import io
import unittest

from live import Counter, Live, Rate
from story import Story


class TheLine(unittest.TestCase):
    def setUp(self):
        self.live = Live(Story(io.StringIO()))

    def test_it_tells_what_how_fast_how_late_and_what_was_hit(self):
        counter = Counter(2000)
        self.live.now("packages loaded:", counter)
        self.live.indexes = ("by",)
        self.live.lag = "lag 1.5 s, 30 open, 12/s applied"
        self.live.hit("tavolad killed")
        begin = self.live.hit_at
        self.live.text(begin)
        counter.add(1000)
        self.assertEqual(
            self.live.text(begin + 1),
            "packages loaded: 1,000 of 2,000, 1,000/s | tavolad killed 1.0 s ago | lag 1.5 s, 30 open, 12/s applied",
        )

    def test_old_news_is_none(self):
        self.live.now("waiting")
        self.live.hit("Redis flushed")
        self.assertEqual(self.live.text(self.live.hit_at + 60), "waiting")

    def test_a_rate_is_of_the_last_moments_and_begins_anew(self):
        rate = Rate()
        self.assertEqual([rate.at(0, 0), rate.at(1, 10), rate.at(4, 100), rate.at(5, 40)], [0, 10, 0, 0])
        self.assertEqual(rate.at(6, 90), 50)


if __name__ == "__main__":
    unittest.main()
