# SPDX-License-Identifier: Apache-2.0
"""Where the sources and the built programs are, and how much longer than usual timeouts are.

TEST_BUILD          the build folder; the default is build/ in the source tree
TEST_TIMEOUT_FACTOR every timeout is multiplied by this number, because builds with sanitizers are slower
"""

import os

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4))
BUILD = os.path.abspath(os.environ.get("TEST_BUILD") or os.path.join(SOURCE, "build"))
BIN = os.path.join(BUILD, "bin")
DESCRIPTORS = os.path.join(BUILD, "generated", "proto", "public_descriptors.pb")
TIMEOUT_FACTOR = float(os.environ.get("TEST_TIMEOUT_FACTOR", "1"))
