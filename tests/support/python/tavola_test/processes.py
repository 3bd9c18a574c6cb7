# SPDX-License-Identifier: Apache-2.0
"""Programs as child processes: started with settings, stopped, killed, their output kept in a file."""

import os
import re
import signal
import subprocess

from tavola_test.settings import BIN, BUILD, TIMEOUT_FACTOR


def program(name):
    """The path of a built program."""
    return os.path.join(BIN, name)


def bench_program(name):
    """The path of a built program that makes load or is measured."""
    return os.path.join(BUILD, "bench", name)


def program_environment(settings):
    """The environment of this process without the product's variables, with these settings."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TAVOLA_")}
    environment.update(settings)
    return environment


def run_program(name, *arguments, settings=None, seconds=60, text=""):
    """Run a program to its end with `text` on standard input; returns the completed process with its output as text."""
    return subprocess.run(
        [program(name), *arguments],
        env=program_environment(settings or {}),
        input=text,
        capture_output=True,
        text=True,
        timeout=seconds * TIMEOUT_FACTOR,
    )


def command_names():
    """The words of every command of `tavola`, as its completion for bash has them."""
    script = run_program("tavola", "completion", "bash").stdout
    found = re.findall(r'^    "([a-z -]+)" \| "\1 "\*\) words=', script, re.MULTILINE)
    assert len(found) > 50, found
    return found


class Child:
    """One running program. Its output is appended to the file `log`.

    If this process ends, in whatever way, the child gets the signal `at_our_end`.
    own_session: Ctrl-C in the terminal does not reach the child.
    """

    def __init__(self, argv, settings, log, at_our_end="KILL", own_session=False):
        self.log = log
        self.is_product = os.path.dirname(argv[0]) == BIN and os.path.basename(argv[0]) != "tavola"
        with open(log, "ab") as out:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", at_our_end, *argv],
                env=program_environment(settings),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=own_session,
            )

    @property
    def pid(self):
        return self.process.pid

    def output(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def last_lines(self, count=15):
        return self.output().splitlines()[-count:]

    def is_running(self):
        return self.process.poll() is None

    def exit_code(self):
        """None while the child runs."""
        return self.process.poll()

    def is_stopped(self):
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "T"

    def send(self, number):
        if self.is_running():
            self.process.send_signal(number)

    def wait(self, seconds=60):
        return self.process.wait(seconds * TIMEOUT_FACTOR)

    def stop(self, seconds=60):
        """Send SIGTERM; returns the exit code. A child that does not end in time raises subprocess.TimeoutExpired."""
        self.send(signal.SIGTERM)
        return self.wait(seconds)

    def kill(self):
        self.send(signal.SIGKILL)
        return self.wait()
