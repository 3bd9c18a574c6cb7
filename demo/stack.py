# SPDX-License-Identifier: Apache-2.0
"""Server and worker as children of the demo, so that it can kill them.

PostgreSQL and Redis are those of `tavola dev exec`, found in TAVOLA_POSTGRES and TAVOLA_REDIS.
"""

import os
import shutil
import subprocess
import tempfile

from tavola_test.processes import Child, program, run_program

SERVER, WORKER = "tavolad", "tavola-worker"
_STOP_SECONDS = 30


class Stack:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tavola-demo-")
        self.target = f"unix:{self.folder}/server"
        self.children = {}
        self.stopping = False
        self.postgres = {"TAVOLA_POSTGRES": os.environ["TAVOLA_POSTGRES"]}
        both = self.postgres | {"TAVOLA_REDIS": os.environ["TAVOLA_REDIS"]}
        # A worker gets the messages of a killed one after two seconds, so that the demo does not take long.
        self.settings = {
            SERVER: both | {"TAVOLA_LISTEN": self.target, "TAVOLA_AUTHENTICATION": "none"},
            WORKER: both | {"TAVOLA_VISIBILITY_TIMEOUT_SECONDS": "2"},
        }

    def migrate(self):
        done = run_program("tavola", "migrate", settings=self.postgres)
        if done.returncode != 0:
            raise RuntimeError(f"tavola migrate: {done.stderr.strip()}")

    def start(self, name):
        # If the demo itself is killed, its children get SIGTERM. Ctrl-C reaches the demo alone.
        log = f"{self.folder}/{name}.log"
        self.children[name] = Child([program(name)], self.settings[name], log, at_our_end="TERM", own_session=True)

    def kill(self, name):
        child = self.children[name]
        if not child.is_running():
            raise RuntimeError(f"{name} had ended by itself with exit code {child.exit_code()}")
        child.kill()

    def check(self):
        """RuntimeError if a child has ended that the demo did not stop."""
        for name, child in self.children.items():
            if not self.stopping and not child.is_running():
                raise RuntimeError(f"{name} ended by itself with exit code {child.exit_code()}")

    def last_lines(self, name):
        return self.children[name].last_lines() if name in self.children else []

    def stop(self):
        """Stop the worker, then the server. Returns a line for each that did not end as it should."""
        complaints = []
        self.stopping = True
        for name in (WORKER, SERVER):
            child = self.children.get(name)
            if child is None or not child.is_running():
                continue
            try:
                code = child.stop(_STOP_SECONDS)
                if code != 0:
                    complaints.append(f"{name} ended with exit code {code} after SIGTERM")
            except subprocess.TimeoutExpired:
                child.kill()
                complaints.append(f"{name} did not end within {_STOP_SECONDS} s after SIGTERM")
        return complaints

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
