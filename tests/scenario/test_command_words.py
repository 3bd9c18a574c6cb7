# SPDX-License-Identifier: Apache-2.0
"""The help of every command, what each prints on a terminal, and how shells complete them: hundreds of starts of the program."""

import contextlib
import os
import pty
import re
import subprocess
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import entity
from tavola_test.processes import command_names, program, program_environment, run_program


class Help(unittest.TestCase):
    """No server is there."""

    def run_command(self, *words, code=0):
        done = run_program("tavola", *words, settings={"TAVOLA_TARGET": "unix:/nowhere"})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_help_is_printed_wherever_it_is_asked_for(self):
        for command in command_names():
            for before, behind in (((), ()), (("x", "--nosuch"), ("y",))):
                if command == "api" and (before or behind):  # the help of the method x
                    continue
                with self.subTest(command, before=before, behind=behind):
                    done = self.run_command(*command.split(), *before, "--help", *behind)
                    self.assertTrue(done.stdout.startswith(f"usage: tavola {command}"), done.stdout)
                    self.assertNotIn("\033", done.stdout + done.stderr)

    def test_help_is_a_command_too(self):
        self.assertTrue(self.run_command("help", "table", "create").stdout.startswith("usage: tavola table create NAME"))
        self.assertTrue(self.run_command("help", "tx", "get").stdout.startswith("usage: tavola transaction get ID"))
        self.assertIn("tavola table list", self.run_command("help", "table").stdout)
        self.assertIn('did you mean "export"?', self.run_command("help", "exprt", code=2).stderr)

    def test_behind_two_dashes_it_is_a_word(self):
        self.assertIn("does a server listen there?", self.run_command("entity", "get", "t", "--", "--help", "r", code=1).stderr)


class Escapes(ServerCase):
    """Escape sequences are for the screen of `tavola top` only; colours are for nothing."""

    with_worker = True  # doctor waits for one

    def printed(self, *words, terminal, **more):
        """What a command prints, on both outputs."""
        settings = {"TAVOLA_TARGET": self.stack.target, "TERM": "xterm-256color", **more}
        if not terminal:
            done = run_program("tavola", *words, settings=settings)
            return done.stdout + done.stderr
        leader, follower = pty.openpty()
        running = subprocess.Popen([program("tavola"), *words], env=program_environment(settings), stdin=subprocess.DEVNULL,
                                   stdout=follower, stderr=follower)
        os.close(follower)
        shown = b""
        with contextlib.suppress(OSError):  # EIO: the terminal has no program any more
            while more := os.read(leader, 65536):
                shown += more
        os.close(leader)
        running.wait()
        return shown.decode()

    def commands(self):
        """One use of each command that needs no more than a table; half of these fail."""
        table = self.new_table()
        self.client.insert_entity(table=table, entity=entity("p", "\u00e9", {"Text": "\033[31mred", "Age": 3}))
        return [["--help"], ["--version"], ["query", table], ["query", table, "-o", "table"], ["query", table, "--explain"],
                ["count", table], ["table", "list"], ["index", "list", table, "-o", "json"], ["queue", "list"], ["tx", "list"],
                ["dead-letters", "list", "none"], ["export", table], ["import", table, "/dev/null"], ["doctor"], ["top", "--once"], ["health"],
                ["api", "GetTable", '{"name": "none"}'], ["api", "UpdateTable", "--help"], ["count", "none"], ["cuont", "none"]]

    def helps(self):
        """The help of each command. Help.test_help_is_printed_wherever_it_is_asked_for prints it into a pipe."""
        return [[*command.split(), "--help"] for command in command_names()]

    def test_no_command_prints_them_into_a_pipe(self):
        for words in self.commands():
            with self.subTest(words):
                printed = self.printed(*words, terminal=False)
                self.assertTrue(printed or words[0] == "import", words)
                self.assertNotIn("\033", printed)

    def test_no_command_prints_them_on_a_terminal_without_colours(self):
        for words in [*self.helps(), *self.commands()]:
            with self.subTest(words):
                self.assertNotIn("\033", self.printed(*words, terminal=True, NO_COLOR="1"))


class Completion(unittest.TestCase):
    def complete(self, *words):
        script = run_program("tavola", "completion", "bash").stdout
        line = " ".join(f"'{word}'" for word in words)
        asked = f'{script}\nCOMP_WORDS=({line})\nCOMP_CWORD={len(words) - 1}\n_tavola\nprintf "%s\\n" "${{COMPREPLY[@]}}"\n'
        return subprocess.run(["bash", "-c", asked], text=True, capture_output=True, check=True).stdout.split()

    def test_bash_completes_commands_and_options(self):
        self.assertIn("entity", self.complete("tavola", ""))
        self.assertEqual(self.complete("tavola", "ent"), ["entity"])
        self.assertEqual(self.complete("tavola", "entity", "p"), ["put"])
        self.assertEqual(self.complete("tavola", "query", "--sel"), ["--select"])
        self.assertEqual(self.complete("tavola", "export", "people", "--out"), ["--output"])

    def test_bash_completes_behind_an_alias(self):
        for alias, first in (("tx", "transaction"), ("transactions", "transaction"), ("tables", "table"), ("entities", "entity"),
                             ("indexes", "index"), ("operations", "operation"), ("queues", "queue"), ("blobs", "blob"), ("dead-letter", "dead-letters")):
            with self.subTest(alias):
                self.assertTrue(self.complete("tavola", alias, ""))
                self.assertEqual(self.complete("tavola", alias, ""), self.complete("tavola", first, ""))
        self.assertEqual(self.complete("tavola", "tx", "su"), ["submit"])
        self.assertEqual(self.complete("tavola", "tx", "submit", "--wa"), ["--wait"])
        self.assertEqual(self.complete("tavola", "entities", "put", "people", "--if"), ["--if-match"])
        self.assertEqual(self.complete("tavola", "tx"), ["tx"])
        self.assertEqual(self.complete("tavola", "tabl"), ["table"])

    def test_zsh_completes_with_what_bash_runs(self):
        # zsh itself leaves out what does not begin with the word.
        load = 'autoload -U compinit; compinit -u -D; eval "$(cat)"; setopt ksharrays; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))'
        asked = load + '; _tavola; print -r -- "${COMPREPLY[@]}"'
        script = run_program("tavola", "completion", "zsh").stdout
        for words, offered in ((("tavola", ""), "entity"), (("tavola", "tx", ""), "submit"), (("tavola", "query", "--"), "--select")):
            with self.subTest(words):
                done = subprocess.run(["zsh", "-f", "-c", asked, "zsh", *words], input=script, text=True, capture_output=True, check=True)
                self.assertIn(offered, done.stdout.split())
                self.assertEqual(done.stderr, "")

    def test_fish_completes(self):
        script = run_program("tavola", "completion", "fish").stdout
        for line, offered in (("tavola ent", "entity"), ("tavola tx su", "submit"), ("tavola tx submit --wa", "--wait")):
            with self.subTest(line):
                done = subprocess.run(["fish", "--no-config", "-c", f"source; complete -C '{line}'"], input=script, text=True,
                                      capture_output=True, check=True)
                self.assertIn(offered, [row.split("\t")[0] for row in done.stdout.splitlines()])

    def test_fish_completes_behind_an_alias(self):
        fish = run_program("tavola", "completion", "fish").stdout
        self.assertIn("complete -c tavola -n '__fish_seen_subcommand_from transaction tx transactions' -a submit -d ", fish)
        self.assertIn("complete -c tavola -n '__fish_seen_subcommand_from transaction tx transactions' -l wait\n", fish)

    def test_every_command_is_on_the_man_page_and_completed_in_fish(self):
        man, fish = run_program("tavola", "help", "--man").stdout, run_program("tavola", "completion", "fish").stdout
        commands = [line.strip() for line in run_program("tavola", "--help").stdout.splitlines() if line.startswith("  ") and line[2] != " "]
        self.assertGreater(len(commands), 40)
        for command in commands:
            if command[0].islower():
                self.assertIn(".B " + command.split(" ")[0].replace("-", "\\-"), man)
                self.assertIn(command.split(" ")[0], fish)
        self.assertTrue(run_program("tavola", "completion", "zsh").stdout.startswith("autoload"))
        self.assertEqual(run_program("tavola", "completion", "csh").returncode, 2)


if __name__ == "__main__":
    unittest.main()
