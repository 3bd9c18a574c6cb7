# SPDX-License-Identifier: Apache-2.0
"""Reading the package index: paragraphs, types, and omitted packages."""

import unittest

import packages

INDEX = """\
Package: libqt5core5a
Version: 5.15.8
Installed-Size: 14338
Maintainer: Debian Qt/KDE Maintainers <debian-qt-kde@lists.debian.org>
Architecture: amd64
Depends: libc6 (>= 2.34), zlib1g, libzstd1
Description: Qt 5 core module
Tag: role::shared-lib,
 uitoolkit::qt
Section: non-free/libs
Filename: pool/main/q/libqt5core5a.deb
Size: 2100000000000
SHA256: 00ff

Package: libqt5core5a
Version: 4.0
Maintainer: Somebody
Architecture: i386
Section: libs
Filename: pool/main/q/old.deb

Package: installed-by-hand
Version: 1
Maintainer: Somebody
Architecture: all
Section: misc

Package: base-files
Version: 12
Maintainer: Santiago Vila <sanvila@debian.org>
Architecture: amd64
Essential: yes
Section: admin
Filename: pool/main/b/base-files.deb
"""


class FromLines(unittest.TestCase):
    def setUp(self):
        self.entities = packages.from_lines(INDEX.splitlines(keepends=True))

    def test_key_is_section_and_name_and_may_be_a_key(self):
        self.assertEqual(list(self.entities), [("non-free:libs", "libqt5core5a"), ("admin", "base-files")])

    def test_properties_have_types(self):
        properties = self.entities["non-free:libs", "libqt5core5a"]

        self.assertEqual(properties["Maintainer"][1], "Debian Qt/KDE Maintainers <debian-qt-kde@lists.debian.org>")
        self.assertEqual(properties["InstalledSize"], ("int64_value", 14338))
        self.assertEqual(properties["Size"], ("int64_value", 2100000000000))
        self.assertEqual(properties["Dependencies"], ("int32_value", 3))
        self.assertEqual(properties["Sha256"], ("binary_value", b"\x00\xff"))
        self.assertEqual(properties["Tags"], ("string_value", "role::shared-lib,\nuitoolkit::qt"))
        self.assertNotIn("Essential", properties)
        self.assertEqual(self.entities["admin", "base-files"]["Essential"], ("boolean_value", True))

    def test_the_first_version_counts(self):
        self.assertEqual(self.entities["non-free:libs", "libqt5core5a"]["Version"], ("string_value", "5.15.8"))
        self.assertNotIn(("libs", "libqt5core5a"), self.entities)

    def test_takes_no_more_than_asked_for(self):
        self.assertEqual(len(packages.from_lines(INDEX.splitlines(keepends=True), 1)), 1)


if __name__ == "__main__":
    unittest.main()
