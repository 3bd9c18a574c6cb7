# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of a test's own, which can be killed or given settings that the others' must not have."""

import glob
import os
import shutil
import signal
import subprocess

BINARIES = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]


class Postgres:
    """Its cluster is in a new folder inside `folder`; the superuser is postgres, who needs no password."""

    def __init__(self, folder, settings, rules=None):
        self.folder = os.path.join(folder, "cluster")
        self.settings = settings
        self.environment = {}  # more of it, for the server alone
        self.become = []
        self.server = None
        os.mkdir(self.folder)
        if os.geteuid() == 0:  # as whom PostgreSQL refuses to run
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
        """A file that only its owner may read."""
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
        """To the postmaster and all its processes, as near to at once as can be."""
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
        """Without a checkpoint, but what it has in /dev/shm is removed; a preloaded library removes its files too."""
        if not (self.server and self.server.is_running()):
            return
        self.send(signal.SIGCONT)
        self.server.send(signal.SIGQUIT)
        try:
            self.server.wait(10)
        except subprocess.TimeoutExpired:  # such as on a disk that fails
            self.kill()

    def kill(self):
        """As when the machine's memory runs out."""
        self.send(signal.SIGKILL)
        self.server.wait()
