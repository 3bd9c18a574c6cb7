# SPDX-License-Identifier: Apache-2.0
"""The demo's own way of building index keys: cases by hand, and the promises the encoding makes."""

import itertools
import random
import unittest

import index_keys


class Encode(unittest.TestCase):
    def test_writes_what_the_description_says(self):
        cases = {
            "": "",
            "amd64": "amd64",
            "Debian Qt/KDE Maintainers <x@y.org>": "Debian Qt.~BKDE Maintainers <x@y.org>",
            "a#b?c\\d": 'a"~Bb>~Bc[~Bd',
            "a.b": "a.b",
            ".~": ".~A~",
            ".é": ".~Aé",
            "~~": "~~A~",
            "~": "~",
            "a b": "a b",
            "a ": "a  Z",
            "a  b": "a  Z b",
            "\x00\x1f": "  0  O",
            "\x7f\x80\x9f": "~~B~~C~~h",
            "!": "!!",
            "!b1": "!!b1",
            "a!": "a!",
        }
        for text, key in cases.items():
            with self.subTest(text=text):
                self.assertEqual(index_keys.encode(text), key)

    def test_joins_with_the_end_mark(self):
        self.assertEqual(index_keys.join("libs", "libc6"), "libs  !libc6")
        self.assertEqual(index_keys.join("", ""), "  !")


class Promises(unittest.TestCase):
    alphabet = " !\"#./>?[\\a~\x00\x1f\x7f\x9f\xa0é\U0001f600"

    def texts(self):
        for length in range(3):
            yield from map("".join, itertools.product(self.alphabet, repeat=length))
        rng = random.Random(7)
        for _ in range(2000):
            yield "".join(rng.choices(self.alphabet, k=rng.randrange(3, 7)))

    def test_order_of_keys_is_order_of_texts(self):
        texts = sorted(set(self.texts()), key=str.encode)
        for build in (index_keys.encode, lambda text: index_keys.join(text, "z"), lambda text: index_keys.join(text, "")):
            keys = [build(text).encode() for text in texts]
            for below, above, text in zip(keys, keys[1:], texts):
                self.assertLess(below, above, repr(text))

    def test_no_forbidden_character_is_left(self):
        for text in self.texts():
            key = index_keys.encode(text)
            self.assertFalse([c for c in key if c in "/\\#?" or c < " " or "\x7f" <= c <= "\x9f"], repr(text))


if __name__ == "__main__":
    unittest.main()
