# SPDX-License-Identifier: Apache-2.0
"""TCP ports for servers that must know their port before they start."""

import socket

_kept = []


def free_port():
    """A port of 127.0.0.1 for a server that begins to listen later. Until this process ends, a socket that does not listen keeps
    it bound: the system gives it to no other socket, and a server that sets SO_REUSEADDR, as servers do, may listen on it.
    """
    keeper = socket.socket()
    keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    keeper.bind(("127.0.0.1", 0))
    _kept.append(keeper)
    return keeper.getsockname()[1]
