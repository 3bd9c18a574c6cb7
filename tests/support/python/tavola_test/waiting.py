# SPDX-License-Identifier: Apache-2.0
"""Waiting for a condition instead of sleeping."""

import time

from tavola_test.settings import TIMEOUT_FACTOR

POLL_SECONDS = 0.01
PROGRAM_SECONDS = 0.1  # between the starts of a program that is asked
# A bound here ends a test that hangs; it measures nothing. A machine that runs other tests may need it whole.
LEAST_SECONDS = 60


def wait_for(what, condition, seconds=20, pause=POLL_SECONDS):
    """Call condition() until it returns a true value, and return that value. AssertionError after `seconds`, but
    not before LEAST_SECONDS. pause: a longer one for a condition that is much work, or starts a program.
    """
    seconds = max(seconds, LEAST_SECONDS) * TIMEOUT_FACTOR
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:.0f} seconds: {what}")
        time.sleep(pause)
