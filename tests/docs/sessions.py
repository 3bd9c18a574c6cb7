# SPDX-License-Identifier: Apache-2.0
"""Shell sessions in Markdown: which commands a page has, what it says they print, and whether what they print is that.

A block (indented by four spaces, or fenced) is a session when a line of it begins with "$ ". A command goes on over the
next lines until the shell would run it; the lines behind it, up to the next command, are what it prints. Three comments
steer the test and can be read in the page's source:

    <!-- not run: REASON -->            the next session is an example that cannot run here
    <!-- continues README.md -->        the page's commands run behind those of README.md, in the same shell
    <!-- stack: TAVOLA_NAME=VALUE -->   a setting of the page's private stack
"""

import dataclasses
import re
import subprocess

COMMENT = re.compile(r"^<!-- (not run|continues|stack): ?(.*?) ?-->$")
CONTINUES = re.compile(r"^<!-- continues (\S+) -->$")
UNFINISHED = re.compile("unexpected EOF|unexpected end of file|delimited by end-of-file")
# A line of a block that is a command but is not marked as one: it would never run.
BARE_COMMAND = re.compile(r"^(sudo |\./dev |tavola |tavolad |npx |npm |apt |apt-get |cmake |psql |redis-cli |helm |kubectl )")


def pages_of(root):
    """The paths of the pages that have commands: README.md, and all pages below docs."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


class BadPage(Exception):
    """The source of the page breaks a rule of this file."""


@dataclasses.dataclass
class Command:
    page: str
    line: int
    text: str
    printed: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Page:
    name: str
    commands: list
    left_out: list  # (line, reason)
    continues: str = None
    settings: dict = dataclasses.field(default_factory=dict)


def is_complete(text):
    """Whether the shell would run this, or wait for another line."""
    if text.endswith("\\"):
        return False
    checked = subprocess.run(["bash", "-n", "-c", text], capture_output=True, text=True, check=False)
    return not UNFINISHED.search(checked.stderr)


def blocks(lines):
    """(number of the first line, lines without indentation) of each block of code; comments come as blocks too."""
    block, first, fenced = [], 0, False
    for number, line in enumerate([*lines, ""], 1):
        if line.startswith("```"):
            if fenced and block:
                yield first, block
            block, fenced, first = [], not fenced, number + 1
        elif fenced:
            block.append(line)
        elif line.startswith("    ") or (block and not line.strip() and number < len(lines) and lines[number].startswith("    ")):
            first = first if block else number
            block.append(line[4:])
        else:
            if block:
                yield first, block
            block = []
            if line.startswith("<!--"):
                yield number, [line]
    if fenced:
        raise BadPage("a fenced block has no end")


def commands_of(name, first, block):
    """The commands of a session."""
    commands, pending = [], None
    for number, line in enumerate(block, first):
        if pending is not None:
            pending.text += "\n" + line
        elif line.startswith("$ "):
            pending = Command(name, number, line[2:])
            commands.append(pending)
        elif commands:
            commands[-1].printed.append(line)
        elif line.strip():
            raise BadPage(f"{name}:{number}: output without a command")
        if pending is not None and is_complete(pending.text):
            pending = None
    if pending is not None:
        raise BadPage(f"{name}:{pending.line}: the command has no end")
    return commands


def read(name, text):
    """The page of this source."""
    page, reason = Page(name, [], []), None
    for first, block in blocks(text.splitlines()):
        comment, continued = COMMENT.match(block[0]), CONTINUES.match(block[0])
        if continued:
            page.continues = continued[1]
        elif comment and comment[1] == "not run":
            reason = comment[2]
        elif comment:
            key, _, value = comment[2].partition("=")
            page.settings[key] = value
        elif any(line.startswith("$ ") for line in block):
            if reason:
                page.left_out.append((first, reason))
            else:
                page.commands += commands_of(name, first, block)
            reason = None
        elif not block[0].startswith("<!--"):
            bare = [number for number, line in enumerate(block, first) if BARE_COMMAND.match(line)]
            if bare:
                raise BadPage(f"{name}:{bare[0]}: a command without \"$ \" in front of it would never run")
    if reason:
        raise BadPage(f"{name}: \"not run\" without a session behind it: {reason}")
    return page


# ---- comparing ----

# What differs from run to run, on both sides; values of tokens and ids are looked at by the commands that use them.
VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r'W/\\?"[0-9A-Za-z_.-]+\\?"'), "<etag>"),
    (re.compile(r'"(age|delay|elapsed|duration)":\s*"[\d.]+s"'), r'"\1":"<seconds>"'),
    (re.compile(r'"(\w*[tT]oken)":\s*"[\w.=…-]+"'), r'"\1":"<token>"'),
    (re.compile(r'"(at_?[lL]east)":\s*\["[\w.=…-]+"\]'), r'"\1":["<token>"]'),
    (re.compile(r"\btv([kts])1\.[\w…-]+"), r"<tv\1>"),
    (re.compile(r"\b(build|drop|delete|range|purge|reshard)-\d+"), r"\1-<n>"),
)


def normal(text):
    """The text without the parts that differ from run to run, and without white space: JSON is printed in several
    ways.
    """
    for pattern, name in VARYING:
        text = pattern.sub(name, text)
    return re.sub(r"\s+", "", text)


def matches(expected, printed):
    """Whether the text printed is the text expected, in which "..." stands for anything."""
    parts = re.split(r"\.\.\.|…", normal(expected.replace("...", "…")))
    return re.fullmatch(".*".join(re.escape(part) for part in parts), normal(printed), re.DOTALL) is not None
