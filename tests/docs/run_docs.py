# SPDX-License-Identifier: Apache-2.0
"""Run every command of README.md and of docs/, in order, and compare what it prints with what the page says.

A page has a shell and a private stack of its own, made by `tavola dev run` on a free port, with a copy of the data that a first
start has made. Pages that continue another run behind it, in its shell. The shell stands in a folder that looks like the
repository, finds the programs in PATH, and has TAVOLA_TARGET, and TAVOLA_POSTGRES for the commands of administrators. Where a
page says 127.0.0.1:50051 or :10002, the addresses that a reader has, the stack's are used. sessions.py says how pages are read.

usage: run_docs.py ROOT BIN_FOLDER TOOLS_FOLDER [PAGE...]
"""

import contextlib
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time

import sessions

READER_ADDRESS = "127.0.0.1:50051"
READER_HTTP_ADDRESS = "127.0.0.1:10002"
COMMAND_SECONDS = 60
START_SECONDS = 60
KEEPERS = []  # sockets of addresses that are taken, until the end
MARK = "\x01end of command\x01"


def free_address():
    """An address that no other program is given: a socket that does not listen keeps it, and servers may listen on it nevertheless."""
    keeper = socket.socket()
    keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    keeper.bind(("127.0.0.1", 0))
    KEEPERS.append(keeper)
    return "127.0.0.1:%d" % keeper.getsockname()[1]


def system_environment():
    """The product's programs without its settings in the environment, and npm without output of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TAVOLA_")}
    return environment | {"npm_config_loglevel": "error", "npm_config_update_notifier": "false", "npm_config_yes": "true"}


class Stack:
    """PostgreSQL, Redis, server and worker on a free port."""

    def __init__(self, programs, folder, settings, data=None):
        """data: the folder of a stack that has ended, of which this one gets a copy; without it the start makes a new one."""
        self.data, self.log, self.tavola = folder / "data", folder / "stack.log", programs / "tavola"
        if data:
            subprocess.run(["cp", "-a", "--reflink=auto", data, self.data], check=True)
        self.address, self.http_address = free_address(), free_address()
        self.environment = system_environment() | settings
        self.environment |= {"TAVOLA_DEV_DATA": str(self.data), "TAVOLA_LISTEN": self.address, "TAVOLA_HTTP_LISTEN": self.http_address}
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", self.tavola, "dev", "run"], stdout=out,
                                            stderr=out, stdin=subprocess.DEVNULL, env=self.environment)
        self.wait_until_ready()

    def wait_until_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while "Ctrl-C stops everything" not in self.log.read_text():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the private stack did not start:\n" + self.log.read_text())
            time.sleep(0.05)

    def postgres(self):
        shown = subprocess.run([self.tavola, "dev", "status"], env=self.environment, capture_output=True, text=True, check=True)
        return re.search(r"^postgres (.*)$", shown.stdout, re.M)[1]

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


class Shell:
    """A reader's shell beside a stack. Commands are read from a file, so that they cannot eat each other."""

    def __init__(self, root, programs, stack, folder):
        home = folder / "repository"
        home.mkdir()
        for entry in root.iterdir():
            if entry.name != ".git" and not entry.name.startswith("build"):
                (home / entry.name).symlink_to(entry)
        (home / "build").mkdir()
        (home / "build/bin").symlink_to(programs)
        self.addresses = {READER_ADDRESS: stack.address, READER_HTTP_ADDRESS: stack.http_address}
        self.file = folder / "command"
        environment = system_environment() | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "TAVOLA_TARGET": stack.address,
            "TAVOLA_POSTGRES": stack.postgres(),
        }
        self.process = subprocess.Popen(["bash", "--noprofile", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, cwd=home, env=environment, start_new_session=True)

    def run(self, text):
        """(the output, the exit code); the code is None if the command did not end in time."""
        for said, used in self.addresses.items():
            text = text.replace(said, used)
        self.file.write_text(text + "\n")
        self.process.stdin.write(f". '{self.file}' </dev/null; printf '{MARK}%d\\n' $?\n".encode())
        self.process.stdin.flush()
        deadline, printed = time.monotonic() + COMMAND_SECONDS, b""
        end = re.compile(re.escape(MARK.encode()) + rb"(\d+)\n$")
        while not end.search(printed):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            more = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not more:
                return printed.decode(errors="replace"), None
            printed += more
        code = int(end.search(printed)[1])
        shown = end.sub(b"", printed).decode(errors="replace")
        for said, used in self.addresses.items():
            shown = shown.replace(used, said)
        return shown, code

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def complaint(command, printed, code):
    """What is wrong with a command, or None. A command for which the page shows no output must succeed as well."""
    expected = "\n".join(command.printed)
    if code is None:
        why = f"did not end within {COMMAND_SECONDS} s"
    elif not sessions.matches(expected, printed):
        why = "did not print what the page says"
    elif code != 0 and not expected.strip():
        why = f"ended with exit code {code}"
    else:
        return None
    return f"{command.page}:{command.line}: {why}\n$ {command.text}\n--- the page\n{expected}\n--- printed\n{printed}"


@contextlib.contextmanager
def folder_for_stack():
    """One that PostgreSQL's user can enter."""
    with tempfile.TemporaryDirectory(prefix="docs-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        yield folder


def run_group(pages, root, programs, data):
    """The complaints about pages that share a shell; behind a command that hangs nothing more is run."""
    settings = {key: value for page in pages for key, value in page.settings.items()}
    with folder_for_stack() as folder, contextlib.ExitStack() as closing:
        stack = Stack(programs, folder, settings, data)
        closing.callback(stack.close)
        shell = Shell(root, programs, stack, folder)
        closing.callback(shell.close)
        complaints = []
        for command in (command for page in pages for command in page.commands):
            begun = time.monotonic()
            printed, code = shell.run(command.text)
            print(f"{command.page}:{command.line}: {time.monotonic() - begun:.1f} s", flush=True)
            complaints.append(complaint(command, printed, code))
            if code is None:
                break
        return [text for text in complaints if text]


def groups_of(pages):
    """Each page with those that continue it."""
    heads = [page for page in pages if not page.continues]
    return [[head, *(page for page in pages if page.continues == head.name)] for head in heads]


def fetch_buf(root, tools):
    """buf comes from npm; it is fetched once only."""
    os.environ["npm_config_cache"], os.environ["npm_config_prefer_offline"] = str(tools / "npm"), "true"
    asked = subprocess.run(["sh", root / "tests/support/need_npm.sh", "npx", "-y", "@bufbuild/buf", "--version"],
                           env=system_environment(), stdout=subprocess.PIPE, text=True, check=False)
    if asked.returncode != 0:
        print(asked.stdout, end="")
        sys.exit(asked.returncode)


def main():
    root, programs, tools = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    pages = [sessions.read(str(path.relative_to(root)), path.read_text()) for path in sessions.pages_of(root)]
    for page in pages:
        for line, reason in page.left_out:
            print(f"{page.name}:{line}: not run: {reason}")
    groups = [group for group in groups_of(pages) if any(page.commands for page in group)]
    if sys.argv[4:]:
        groups = [group for group in groups if group[0].name in sys.argv[4:]]
    ran = sum(len(page.commands) for group in groups for page in group)
    if any("npx" in command.text for group in groups for page in group for command in page.commands):
        fetch_buf(root, tools)
    with folder_for_stack() as folder:
        first = Stack(programs, folder, {})
        first.close()
        complaints = [text for group in groups for text in run_group(group, root, programs, first.data)]
    print(*complaints, f"{ran} commands of {sum(map(len, groups))} pages, {len(complaints)} not as the page says", sep="\n\n")
    sys.exit(1 if complaints or ran == 0 else 0)


if __name__ == "__main__":
    main()
