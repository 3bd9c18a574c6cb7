# SPDX-License-Identifier: Apache-2.0
"""Waiting for a condition instead of sleeping."""

import time

from tavola_test.settings import TIMEOUT_FACTOR

POLL_SECONDS = 0.01


def wait_for(what, condition, seconds=20):
    """Call condition() until it returns a true value, and return that value. AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds * TIMEOUT_FACTOR
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} seconds: {what}")
        time.sleep(POLL_SECONDS)
