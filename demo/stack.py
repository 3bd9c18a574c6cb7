# SPDX-License-Identifier: Apache-2.0
"""Server and worker as children of the demo, so that it can kill them, and the Redis it may flush.

PostgreSQL and Redis are those of `tavola dev exec`, found in TAVOLA_POSTGRES and TAVOLA_REDIS.
"""

import os
import shutil
import signal
import subprocess
import tempfile

SERVER, WORKER = "tavolad", "tavola-worker"
_PATIENCE = 30  # seconds for an orderly end


class Stack:
    def __init__(self, programs):
        self.programs = programs
        self.folder = tempfile.mkdtemp(prefix="tavola-demo-")
        self.target = f"unix:{self.folder}/server"
        self.children = {}
        self.stopping = False
        common = {name: value for name, value in os.environ.items() if not name.startswith("TAVOLA_")}
        for name in ("TAVOLA_POSTGRES", "TAVOLA_REDIS"):
            common[name] = os.environ[name]
        # What a killed worker held is given to the next one after two seconds: a demo has no patience.
        self.environments = {
            SERVER: common | {"TAVOLA_LISTEN": self.target, "TAVOLA_AUTHENTICATION": "none"},
            WORKER: common | {"TAVOLA_VISIBILITY_SECONDS": "2"},
        }

    def migrate(self):
        subprocess.run(
            [f"{self.programs}/tavola", "migrate"],
            env={k: v for k, v in os.environ.items() if k == "TAVOLA_POSTGRES" or not k.startswith("TAVOLA_")},
            stdout=subprocess.DEVNULL,
            check=True,
        )

    def start(self, name):
        # Should the demo itself be killed, its children are told to stop. Ctrl-C reaches the demo alone.
        with open(self.log_of(name), "a", encoding="utf-8") as log:
            self.children[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", f"{self.programs}/{name}"],
                env=self.environments[name],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name):
        """SIGKILL: no chance to tidy up."""
        child = self.children[name]
        if child.poll() is not None:
            raise RuntimeError(f"{name} had ended by itself with exit code {child.returncode}")
        child.send_signal(signal.SIGKILL)
        child.wait()

    def flush_redis(self):
        address = os.environ["TAVOLA_REDIS"]
        where = ["-s", address.removeprefix("unix:")] if address.startswith("unix:") else ["-u", address]
        subprocess.run(["redis-cli", *where, "flushall"], stdout=subprocess.DEVNULL, check=True)

    def check(self):
        """Nobody but the demo may end a child."""
        for name, child in self.children.items():
            if not self.stopping and child.poll() is not None:
                raise RuntimeError(f"{name} ended by itself with exit code {child.returncode}")

    def log_of(self, name):
        return f"{self.folder}/{name}.log"

    def last_lines(self, name, count=15):
        try:
            with open(self.log_of(name), encoding="utf-8", errors="replace") as log:
                return [line.rstrip() for line in log.readlines()[-count:]]
        except OSError:
            return []

    def stop(self):
        """In order: first the worker. Returns what did not end as it should."""
        complaints = []
        self.stopping = True
        for name in (WORKER, SERVER):
            child = self.children.get(name)
            if child is None or child.poll() is not None:
                continue
            child.terminate()
            try:
                if child.wait(_PATIENCE) != 0:
                    complaints.append(f"{name} ended with exit code {child.returncode} after SIGTERM")
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                complaints.append(f"{name} did not end within {_PATIENCE} s after SIGTERM")
        return complaints

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
