# SPDX-License-Identifier: Apache-2.0
"""How fast the processors are during a measurement (see speed.c), and how much of them the host gives to others."""

import subprocess

from tavola_test.processes import bench_program


def _times():
    """(jiffies that the host gave to others while a processor here had work, all jiffies), of all processors"""
    with open("/proc/stat", encoding="utf-8") as file:
        times = [int(word) for word in file.readline().split()[1:9]]
    return times[7], sum(times)


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
        """What measure() returns, with loop_us, the mean time of a loop meanwhile, and stolen, in per cent."""
        loops, took = self._so_far()
        stolen, passed = _times()
        seen = measure()
        more_loops, more_took = self._so_far()
        more_stolen, more_passed = _times()
        if more_loops == loops or more_passed == passed:
            return seen  # shorter than the pause between two loops
        return seen | {"loop_us": (more_took - took) / (more_loops - loops) / 1000,
                       "stolen": 100 * (more_stolen - stolen) / (more_passed - passed)}
