#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws how a guard that is left out breaks the protocol: the shortest failure of the simulation, as a sequence diagram with the state
before the first step and after each commit.

The simulation is run without the guard until it has failed often enough. Of each failure the steps are kept that matter: those of the
transaction that failed, and of the transactions that overlap it. Names, versions and ids are made the same for all failures of one kind, so that the
shortest of them stays the same while schedules change.

usage: diagram.py SIM --without GUARD --diagram FILE.svg     draw it
       diagram.py SIM --check FOLDER                         draw those of all guards again, and compare; UPDATE_DOCS=1 writes them
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import drawing  # noqa: E402

GUARDS = {
    "G7": "no cursor over intent ids",
    "G8": "the source is read after the state row is locked",
    "G9": "intents are noted before the source is read",
    "G10": "entries and the end of the intents in one commit",
    "G14": "a step's state under the transaction's lock",
    "I8": "both ends of a move are locked before they are read",
}
SCHEDULES, FAILURES = 20_000, 40
SERVERS_FROM = 4  # the number of the first actor that is a server: tests/sim/sim.h
STEP = re.compile(r"^ *[\d.]+ step of actor (\d+) about (\S.*\]): (.*)$")
STATE = re.compile(r"^ *[\d.]+ state of (\[.*?\]): (.*)$")
DEATH = re.compile(r"^ *[\d.]+ process (\d+) dies$")
FAILURE = re.compile(r"^ *[\d.]+ ((?:I\d+|G\d+): .*)$")
SEED = re.compile(r"--seed (\d+) ")
CITIES = ("Aalen", "Bonn", "Celle")


class Step:
    def __init__(self, actor, text):
        self.actor, self.text, self.states = actor, text, []


class Work:
    """The steps of one transaction of an actor."""

    def __init__(self, actor, about, begun, text=""):
        self.actor, self.about, self.begun, self.ended = actor, about, begun, begun
        self.steps = [(begun, Step(actor, text))] if text else []

# ---- the story of a trace ----


def read_trace(lines):
    """(all work in the order of its beginnings, {about: [(line, state)]}, faults, the failure)."""
    done, open_work, states, faults, failure, last = [], {}, {}, [], "", None
    for number, line in enumerate(lines):
        step, state, death, failed = (pattern.match(line) for pattern in (STEP, STATE, DEATH, FAILURE))
        if step:
            actor, about, text = int(step[1]), step[2], step[3]
            work = open_work.get(actor)
            if not work or text.startswith(("begins", "scans")):
                work = open_work[actor] = Work(actor, about, number)
                done.append(work)
            last = Step(actor, text)
            work.steps.append((number, last))
            work.ended = number
            if text.startswith("scans") or text.startswith("commits") and "manifest" not in text:
                del open_work[actor]
        elif state:
            states.setdefault(state[1], []).append((number, state[2]))
            if last:
                last.states.append((state[1], state[2]))
        elif death:
            faults += [Work(actor, "", number, "dies") for actor in (2 * int(death[1]), 2 * int(death[1]) + 1)]
            for actor in (2 * int(death[1]), 2 * int(death[1]) + 1):
                work = open_work.pop(actor, None)
                if work and work.steps[-1][1].text.startswith("commits"):
                    work.steps.append((number, Step(actor, "dies")))
        elif failed and not failure:
            failure = failed[1]
        if failure and not failed and not state:
            break  # what an actor still does does not matter
    return done, states, faults, failure


def has_effect(work):
    return any(step.text.startswith(("commits", "scans")) for _, step in work.steps)


def failed_work(done, subject, failure):
    """The transaction that failed: the last one about the subject with an effect; of a lost intent the write that made it."""
    candidates = [work for work in done if subject in work.about and has_effect(work)]
    if failure.startswith("G7"):
        candidates = [work for work in candidates if work.actor >= SERVERS_FROM]
    return candidates[-1] if candidates else None


def overtaken(done, write, scope, faults):
    """The write, the scan that read its intent, the death of the scanner, and the next scan, which begins behind the intent."""
    number = re.search(r"id (\d+)", write.steps[0][1].text)[1]
    scans = [work for work in done if f"[{scope}]" == work.about and work.begun > write.ended]
    first = next((work for work in scans if f"finds up to id {number}" == work.steps[0][1].text.partition(", and ")[2]), None)
    later = first and next((work for work in scans if work.begun > first.begun and f"id {number} lies" in work.steps[0][1].text), None)
    between = later and [fault for fault in faults if first.begun < fault.begun < later.begun and fault.actor == first.actor]
    return [write, first, between[0], later] if between else []


def story_of(lines):
    """(steps, the state before them, the state's subject, the failure), or None if the trace has no such story."""
    done, states, faults, failure = read_trace(lines)
    named = re.search(r"(?:key|transaction) \d+", failure)
    if not named:
        return None
    subject = f"[{named[0]}]"
    scope = "".join(re.findall(r"range \d+", failure))
    cause = failed_work(done, subject, failure)
    if cause is None:
        return None
    if failure.startswith("G7"):
        kept = overtaken(done, cause, scope, faults)
    else:
        kept = [work for work in done if subject in work.about and has_effect(work) and work.begun <= cause.ended and work.ended >= cause.begun]
    if not kept:
        return None
    steps = [step for _, step in sorted((one for work in kept for one in work.steps), key=lambda one: one[0])]
    first = min(work.begun for work in kept)
    before = [state for number, state in states.get(subject, []) if number < first]
    empty = "entity absent, version 0; entry none; open intents 0" if "key" in subject else "steps recorded 0; effects of step 1: 0, of step 2: 0"
    return steps, before[-1] if before else empty, subject, failure


# ---- the same names in all stories of one kind ----


def ranks(texts, word):
    """{number: its rank} of the numbers behind a word; 0 stays."""
    numbers = sorted({int(number) for text in texts for number in re.findall(rf"\b{word} (\d+)", text)} - {0})
    return {number: rank for rank, number in enumerate(numbers, 1)} | {0: 0}


def renamed(texts, failure):
    texts = [*texts, failure]
    text = "\n".join(texts)
    seen = sorted((city for city in CITIES if city in text), key=text.index)
    new = dict(zip(seen, CITIES))
    for word in ("version", "id"):
        rank = ranks(texts, word)
        text = re.sub(rf"\b{word} (\d+)", lambda found, word=word, rank=rank: f"{word} {rank[int(found[1])]}", text)
    text = re.sub("|".join(seen) or "$^", lambda found: new[found[0]], text)
    text = re.sub(r"\b(key|transaction) \d+", r"the \1", text)
    return re.sub(r", range \d+", "", text).split("\n")


def lane_names(actors):
    """{actor: name}, numbered by their first appearance."""
    names, counts = {}, {}
    for actor in actors:
        kind = "server" if actor >= SERVERS_FROM else "relay" if actor % 2 else "worker"
        if actor not in names:
            counts[kind] = counts.get(kind, 0) + 1
            names[actor] = f"{kind} {counts[kind]}"
    return names


class Story:
    """rows: (lane, text, state behind it or None)."""

    def __init__(self, seed, steps, before, subject, failure):
        self.seed = seed
        lanes = lane_names(step.actor for step in steps)
        states = [next((state for about, state in step.states if about == subject), "") for step in steps]
        texts = renamed([before, *(text for step, state in zip(steps, states) for text in (step.text, state))], failure)
        self.before, self.failure = texts[0], texts[-1]
        self.rows = [(lanes[step.actor], text, state) for step, text, state in zip(steps, texts[1:-1:2], texts[2:-1:2])]

    @property
    def key(self):
        return len(self.rows), [row[:2] for row in self.rows], self.failure


# ---- drawing ----

LANE, HEAD, STEP_HEIGHT, STATE_LINE = 110, 78, 26, 16


def draw_state(picture, x, y, state, fill):
    parts = state.split("; ")
    height = STATE_LINE * len(parts) + 8
    picture.box(x, y, drawing.width_of(*parts) + 16, height, fill)
    for number, part in enumerate(parts):
        picture.text(x + 8, y + 15 + STATE_LINE * number, part)
    return height


def draw(guard, story):
    lanes = list(dict.fromkeys(row[0] for row in story.rows))
    x_of = {lane: 60 + LANE * number for number, lane in enumerate(lanes)}
    database = max(x_of.values()) + drawing.width_of(*(row[1] for row in story.rows)) + 30
    picture = drawing.Drawing(f"without {guard}: {story.failure}", f"seed {story.seed}")
    picture.text(12, 22, f"without {guard}: {GUARDS[guard]}", "title")
    y = HEAD + draw_state(picture, database + 14, HEAD - 8, story.before, drawing.PALE) + 4
    for number, (lane, text, state) in enumerate(story.rows):
        is_read = text.startswith(("reads", "notes", "scans"))
        at = y + 14
        ends = (database, x_of[lane]) if is_read else (x_of[lane], database)
        if text != "dies":
            picture.arrow(ends[0], at, ends[1], at, is_read)
        picture.text(x_of[lane] + 8, at - 4, text)
        y += STEP_HEIGHT
        if state:
            is_last = not any(row[2] for row in story.rows[number + 1:])
            y += max(0, draw_state(picture, database + 14, at - 10, state, drawing.BAD if is_last else drawing.PALE) - 14)
    for name, x in [*x_of.items(), ("PostgreSQL", database)]:
        picture.text(x, HEAD - 26, name, "", "middle")
        picture.line(x, HEAD - 18, x, y + 4)
    picture.text(12, y + 24, story.failure, "title")
    return picture.svg()


# ---- runs ----


def run(sim, *arguments):
    return subprocess.run([sim, *arguments], stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()


def story_of_seed(sim, guard, seed):
    found = story_of(run(sim, "--seed", seed, "--schedules", "1", "--without", guard, "--trace"))
    return Story(seed, *found) if found else None


def stories(sim, guard):
    """Stories of the failures."""
    for line in run(sim, "--schedules", str(SCHEDULES), "--failures", str(FAILURES), "--without", guard):
        seed = SEED.search(line)
        story = seed and story_of_seed(sim, guard, seed[1])
        if story:
            yield story


def shortest(sim, guard):
    found = min(stories(sim, guard), key=lambda story: story.key, default=None)
    if found is None:
        sys.exit(f"diagram: without {guard} nothing failed in {SCHEDULES} schedules")
    return found


def without_seed(svg):
    return re.sub("<desc>.*?</desc>", "", svg)


def is_told(sim, guard, known):
    """Whether the simulation tells this story today: with the seed that it was drawn from, else with any."""
    seed = re.search(r"<desc>seed (\d+)</desc>", known)
    story = seed and story_of_seed(sim, guard, seed[1])
    if story and draw(guard, story) == known:
        return True
    return any(without_seed(draw(guard, story)) == without_seed(known) for story in stories(sim, guard))


def check(sim, folder):
    """Whether every committed diagram is a story that the simulation tells today."""
    complaints = []
    for guard in GUARDS:
        path = folder / f"without-{guard}.svg"
        if "UPDATE_DOCS" in os.environ:
            path.write_text(draw(guard, shortest(sim, guard)), encoding="utf-8")
        if not is_told(sim, guard, path.read_text(encoding="utf-8") if path.exists() else ""):
            complaints.append(f"{path}: no failure without {guard} has these steps: UPDATE_DOCS=1 draws one that has")
    print(*complaints, f"{len(GUARDS)} diagrams", sep="\n")
    return 1 if complaints else 0


def main():
    parser = argparse.ArgumentParser(description="Draws the shortest failure of the simulation without a guard.")
    parser.add_argument("sim")
    parser.add_argument("--without", choices=GUARDS)
    parser.add_argument("--diagram", type=pathlib.Path)
    parser.add_argument("--check", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.check:
        sys.exit(check(options.sim, options.check))
    if not options.without or not options.diagram:
        parser.error("--without GUARD and --diagram FILE.svg belong together")
    options.diagram.write_text(draw(options.without, shortest(options.sim, options.without)), encoding="utf-8")


if __name__ == "__main__":
    main()
