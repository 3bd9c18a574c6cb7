# SPDX-License-Identifier: Apache-2.0
"""A service over HTTP that steps of transactions call."""

import threading

from tavola_test.loopback_server import HANG_UP, LoopbackServer

KEY = "Idempotency-Key"


class Receiver(LoopbackServer):
    """answers: {path: what the next requests for it are answered: a status, (status, headers, body) or HANG_UP}, when there is
    nothing 200; a key that has had success gets the same answer again.
    """

    def __init__(self, certificate=None):
        self.answers, self.done = {}, {}
        self.lock = threading.Lock()
        super().__init__(certificate)

    def respond(self, request):
        with self.lock:
            if request.headers[KEY] in self.done:
                return self.done[request.headers[KEY]]
            answers = self.answers.get(request.path)
            answer = answers.pop(0) if answers else 200
            if isinstance(answer, int):
                answer = (answer, {}, b"done")
            if answer != HANG_UP and answer[0] < 300:
                self.done[request.headers[KEY]] = answer
            return answer

    def of(self, path):
        return [each for each in list(self.requests) if each.path == path]

    def keys(self, path):
        """Of the requests that have arrived, as often as each has."""
        return [each.headers[KEY] for each in self.of(path)]

    def each_once(self, path):
        """The first request of each key. A step may be carried out by two consumers at once, so a request may arrive more than once
        without a failure.
        """
        return list({each.headers[KEY]: each for each in reversed(self.of(path))}.values())[::-1]
