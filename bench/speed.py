# SPDX-License-Identifier: Apache-2.0
"""How fast the processors are during a measurement (see speed.c)."""

import subprocess

from tavola_test.processes import bench_program


class Speed:
    def __init__(self):
        self.child = subprocess.Popen([bench_program("bench_speed")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        self.child.stdin.close()
        self.child.wait()

    def _so_far(self):
        """(loops, nanoseconds that they took)"""
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        return [int(word) for word in self.child.stdout.readline().split()]

    def during(self, measure):
        """What measure() returns, with loop_us: the mean time of a loop meanwhile."""
        loops, took = self._so_far()
        seen = measure()
        more_loops, more_took = self._so_far()
        if more_loops == loops:
            return seen  # shorter than the pause between two loops
        return seen | {"loop_us": (more_took - took) / (more_loops - loops) / 1000}
