# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of a test's own, which can be killed, or can get settings that other tests' servers must not have."""

import glob
import os
import shutil
import signal
import subprocess

BINARIES = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]


class Postgres:
    """The cluster is in a new folder inside `folder`; the superuser is postgres, without a password."""

    def __init__(self, folder, settings, rules=None):
        self.folder = os.path.join(folder, "cluster")
        self.settings = settings
        self.environment = {}  # more environment variables, for the server alone
        self.become = []
        self.server = None
        os.mkdir(self.folder)
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root, so it runs as this user
            os.chmod(folder, 0o755)
            self.become = ["--reuid=postgres", "--regid=postgres", "--init-groups"]
            self.hand_over(self.folder)
        subprocess.run(
            ["setpriv", *self.become, *self.maker()],
            check=True,
            capture_output=True,
            cwd=folder,
        )
        if rules:
            with open(os.path.join(self.folder, "pg_hba.conf"), "w", encoding="ascii") as file:
                file.write(rules)

    def maker(self):
        """The command that makes the cluster: a copy of a template takes a tenth of the time of initdb."""
        template = os.environ.get("INITDB_TEMPLATE")
        if template:
            return ["cp", "-a", "--reflink=auto", "--no-target-directory", template, self.folder]
        settings = ["--username=postgres", "--auth=trust", "--no-sync", "--locale=C", "-E", "UTF8"]
        return [BINARIES + "/initdb", "-D", self.folder, *settings]

    def hand_over(self, path):
        """Make a file that only its owner may read."""
        if self.become:
            shutil.chown(path, "postgres", "postgres")

    def start(self, start_child):
        """start_child(argv): the postmaster as a child that ends with the test."""
        argv = [*self.become, "env", *(f"{name}={given}" for name, given in self.environment.items())]
        argv += [BINARIES + "/postgres", "-D", self.folder]
        for name, given in self.settings.items():
            argv += ["-c", f"{name}={given}"]
        self.server = start_child(argv)
        return self.server

    def send(self, number):
        """Send the signal to the postmaster and all its processes, as near to the same moment as possible."""
        postmaster = self.server.pid
        with open(f"/proc/{postmaster}/task/{postmaster}/children", encoding="ascii") as file:
            children = [int(text) for text in file.read().split()]
        self.server.send(number)
        for child in children:
            try:
                os.kill(child, number)
            except ProcessLookupError:
                continue

    def end(self):
        """Stop it without a checkpoint. Its files in /dev/shm are removed; a preloaded library removes its own files
        too.
        """
        if not (self.server and self.server.is_running()):
            return
        self.send(signal.SIGCONT)
        self.server.send(signal.SIGQUIT)
        try:
            self.server.wait(10)
        except subprocess.TimeoutExpired:  # the copy fails, for example on a disk that fails
            self.kill()

    def kill(self):
        """Kill all processes, as the kernel does when memory runs out."""
        self.send(signal.SIGKILL)
        self.server.wait()
