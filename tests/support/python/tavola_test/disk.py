# SPDX-License-Identifier: Apache-2.0
"""A disk whose power can be cut: a file system on a loop device, in a mount namespace of this process and its
children, so that nothing is left behind however the test ends. Needs root, loop devices, and Debian's xfsprogs.
"""

import ctypes
import os
import shutil
import subprocess

MEGABYTES = 2048
CLONE_NEWNS = 0x00020000
PROGRAMS = ("mkfs.xfs", "xfs_io", "mount", "umount")


class NoDisk(Exception):
    """Why this machine cannot have such a disk; None if it can."""


def run(*argv):
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise NoDisk(f"{argv[0]}: {(result.stderr or result.stdout).strip().splitlines()[-1:]}")


class Disk:
    """The file system, mounted at `folder`; what was written and not synced is lost by cut() and mount()."""

    private = False  # this process has a mount namespace of its own

    def __init__(self, where):
        self.image, self.folder = os.path.join(where, "disk.xfs"), os.path.join(where, "disk")
        if os.geteuid() != 0:
            raise NoDisk("only root may mount")
        missing = [name for name in PROGRAMS if not shutil.which(name)]
        if missing:
            raise NoDisk("there is no " + ", ".join(missing))
        self.enter_namespace()
        try:
            with open(self.image, "wb") as file:
                file.truncate(MEGABYTES * 1024 * 1024)
            run("mkfs.xfs", "-q", self.image)
            os.mkdir(self.folder)
            self.mount()
        except BaseException:
            self.close()
            raise

    @classmethod
    def enter_namespace(cls):
        if cls.private:
            return
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
            raise NoDisk("unshare: " + os.strerror(ctypes.get_errno()))
        cls.private = True
        run("mount", "--make-rprivate", "/")

    def mount(self):
        """The kernel removes the loop device after its last unmount."""
        run("mount", "-o", "loop", self.image, self.folder)

    def sync(self):
        run("sync", "-f", self.folder)

    def cut(self):
        """From now on every access fails, and data in the kernel's memory never reaches the disk."""
        run("xfs_io", "-x", "-c", "shutdown", self.folder)

    def unmount(self):
        run("umount", self.folder)

    def close(self):
        subprocess.run(["umount", "--lazy", self.folder], capture_output=True, check=False)
        for path, remove in ((self.folder, os.rmdir), (self.image, os.unlink)):
            if os.path.exists(path):
                remove(path)
