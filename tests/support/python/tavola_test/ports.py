# SPDX-License-Identifier: Apache-2.0
"""TCP ports for servers that must know their port before they start."""

import socket


def free_port():
    """A port of 127.0.0.1 that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
