# SPDX-License-Identifier: Apache-2.0
"""Waiting for a condition instead of sleeping."""

import time

from tavola_test.settings import TIMEOUT_FACTOR

# The pause between two calls is a tenth of the time that has been waited, within these bounds: many conditions start a program.
POLL_SECONDS, LONGEST_POLL_SECONDS = 0.01, 0.1
# A bound here ends a test that hangs; it measures nothing. A machine that runs other tests may need it whole.
LEAST_SECONDS = 60


def wait_for(what, condition, seconds=20):
    """Call condition() until it returns a true value, and return that value. AssertionError after `seconds`, but
    not before LEAST_SECONDS.
    """
    seconds = max(seconds, LEAST_SECONDS) * TIMEOUT_FACTOR
    begun = time.monotonic()
    while True:
        result = condition()
        if result:
            return result
        waited = time.monotonic() - begun
        if waited > seconds:
            raise AssertionError(f"not within {seconds:.0f} seconds: {what}")
        time.sleep(min(max(waited / 10, POLL_SECONDS), LONGEST_POLL_SECONDS))
