# SPDX-License-Identifier: Apache-2.0
"""Every part of the API has a comment, and the page that is made of them has every part."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "cmake"))
import api_reference  # noqa: E402


class Reference(unittest.TestCase):
    def setUp(self):
        self.elements = [one for file in api_reference.files_of(ROOT / "api") for one in api_reference.Elements(file).found]

    def test_every_part_has_a_comment(self):
        self.assertGreater(len(self.elements), 400)
        self.assertEqual([name for _, name, _, comment in self.elements if not comment], [])

    def test_the_page_has_every_part(self):
        page = api_reference.page(ROOT / "api")
        for kind, name, _, comment in self.elements:
            self.assertIn(f"### {name}\n" if kind == "method" else name.rsplit(".", 1)[-1], page)
            self.assertIn(api_reference.one_line(comment) if kind in ("field", "value") else comment, page)


if __name__ == "__main__":
    unittest.main()
