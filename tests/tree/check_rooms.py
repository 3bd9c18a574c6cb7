#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when rooms of a layer, or modules of store/, include each other in a circle, or when a room outgrows its bounds.

A room is a folder directly below a layer (store/entities, domain/filter); files of the layer's own folder are its hall.
The hall may include every room. A room may include the headers of its layer's hall only where HALL names them.

usage: check_rooms.py ROOT [--graph]
"""

import os
import re
import sys

import tree

LAYERS = ("domain", "store")
MAX_SOURCES = 15  # .c files of a room: with more it is two rooms
MAX_LEVELS = {"domain": 10, "store": 7}  # the longest chain of rooms each of which includes the next one
# The pairs of rooms of which one includes the other, and the includes between rooms, of today: they only come down.
MAX_PAIRS = {"store": 46}
MAX_BETWEEN = {"store": 202}
WITHOUT_CIRCLES = {"store"}  # layers whose modules include each other one way
# Headers of a hall that its rooms may include: they include no room themselves.
HALL = {"domain": {"account_id.h", "aead.h", "digest.h", "limits.h", "reason.h", "text.h", "ticks.h", "token.h"}, "store": {"sql.h", "migrations.h"}}


def includes(root, layer):
    """(file, room, included header) for every include of a header of the same layer."""
    for path, text in tree.c_files(root, (layer,)):
        inside = path.split(os.sep)[1:]
        room = inside[0] if len(inside) > 1 else ""
        for header in re.findall(rf'^#include "{layer}/([^"]+)"', text, re.M):
            yield path, room, header


def graph(root, layer, complain):
    """room -> the rooms it includes, with one example each."""
    edges = {}
    for path, room, header in includes(root, layer):
        target = header.split("/")[0] if "/" in header else ""
        if not room or target == room:
            continue
        if not target:
            if header not in HALL[layer]:
                complain(f"{path}: a room may not include {layer}/{header}, which stands above the rooms")
            continue
        edges.setdefault(room, {}).setdefault(target, path)
    return edges


def modules(root, layer):
    """module (a source with its header) -> the modules it includes, with one file each."""
    edges = {}
    for path, _, header in includes(root, layer):
        module, target = os.path.splitext(path)[0], layer + "/" + os.path.splitext(header)[0]
        if module != target:
            edges.setdefault(module, {}).setdefault(target, path)
    return edges


def circle(edges):
    """The rooms or modules of a circle, or None."""
    done = set()

    def visit(room, path):
        if room in path:
            return path[path.index(room):] + [room]
        if room in done:
            return None
        for target in sorted(edges.get(room, {})):
            found = visit(target, path + [room])
            if found:
                return found
        done.add(room)
        return None

    for room in sorted(edges):
        found = visit(room, [])
        if found:
            return found
    return None


def between(root, layer):
    """The number of includes from one room into another."""
    return sum(1 for _, room, header in includes(root, layer) if room and "/" in header and header.split("/")[0] != room)


def check_sizes(root, layer, edges, complain):
    """Complain if the rooms of a layer include each other more often than today."""
    pairs, count = sum(len(targets) for targets in edges.values()), between(root, layer)
    if pairs > MAX_PAIRS.get(layer, pairs):
        complain(f"{layer}/: {pairs} pairs of rooms include each other, at most {MAX_PAIRS[layer]}: --graph prints them")
    if count > MAX_BETWEEN.get(layer, count):
        complain(f"{layer}/: {count} includes lead from one room into another, at most {MAX_BETWEEN[layer]}: name a type with "
                 "a declaration, or put the module into the room that uses it")


def levels(edges):
    """The rooms of the longest chain; without circles."""
    chains = {}

    def chain(room):
        if room not in chains:
            chains[room] = [room] + max((chain(target) for target in sorted(edges.get(room, {}))), key=len, default=[])
        return chains[room]

    return max((chain(room) for room in sorted(edges)), key=len, default=[])


def check(root, complain):
    """Complain of every circle, of a chain that is too long, and of every room that is too large."""
    for layer in LAYERS:
        edges = graph(root, layer, complain)
        check_sizes(root, layer, edges, complain)
        found = circle(edges)
        if found:
            steps = [f"{a} -> {b} ({edges[a][b]})" for a, b in zip(found, found[1:])]
            complain(f"{layer}/: rooms include each other in a circle: " + ", ".join(steps))
        elif len(levels(edges)) > MAX_LEVELS[layer]:
            complain(f"{layer}/: more than {MAX_LEVELS[layer]} rooms stand on each other: " + " -> ".join(levels(edges)))
        found = circle(modules(root, layer)) if layer in WITHOUT_CIRCLES else None
        if found:
            complain("modules include each other in a circle: " + " -> ".join(found))
        for room in sorted(os.listdir(os.path.join(root, layer))):
            folder = os.path.join(root, layer, room)
            sources = [n for n in os.listdir(folder) if n.endswith(".c")] if os.path.isdir(folder) else []
            if len(sources) > MAX_SOURCES:
                complain(f"{layer}/{room}/ has {len(sources)} sources, at most {MAX_SOURCES}: it is two rooms")


def print_graph(root):
    for layer in LAYERS:
        edges = graph(root, layer, lambda _: None)
        for room in sorted(edges):
            print(f"{layer}/{room}: {' '.join(sorted(edges[room]))}")
        pairs = sum(len(targets) for targets in edges.values())
        print(f"{layer}/: {between(root, layer)} includes between {pairs} pairs of rooms on {len(levels(edges))} levels")


if __name__ == "__main__":
    if "--graph" in sys.argv:
        print_graph(sys.argv[1])
    tree.run(check)
