# SPDX-License-Identifier: Apache-2.0
"""The disk whose power can be cut keeps exactly what was synced."""

import os
import tempfile
import unittest

from tavola_test.disk import Disk, NoDisk


class Power(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tp-")
        self.addCleanup(folder.cleanup)
        try:
            self.disk = Disk(folder.name)
        except NoDisk as why:
            self.skipTest(f"no power cuts on this machine: {why}")
        self.addCleanup(self.disk.close)

    def write(self, name, synced):
        with open(os.path.join(self.disk.folder, name), "wb") as file:
            file.write(b"x" * 10000)
            file.flush()
            if synced:
                os.fsync(file.fileno())

    def test_what_was_not_synced_is_gone(self):
        self.write("kept", True)
        folder = os.open(self.disk.folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
        self.write("lost", False)

        self.disk.cut()
        with self.assertRaises(OSError):
            self.write("refused", True)
        self.disk.unmount()
        self.disk.mount()

        self.assertEqual(os.path.getsize(os.path.join(self.disk.folder, "kept")), 10000)
        lost = os.path.join(self.disk.folder, "lost")
        self.assertFalse(os.path.exists(lost) and os.path.getsize(lost))


if __name__ == "__main__":
    unittest.main()
