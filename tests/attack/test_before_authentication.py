# SPDX-License-Identifier: Apache-2.0
"""Attacks that need no credential: memory stays under the bound, other callers are served, and the memory is released
afterwards.
"""

import time

from attack_case import AttackCase
from frames import Connection, data_frames, message, open_stream

STREAMS = 1024  # that the server offers


class BeforeAuthentication(AttackCase):
    def test_c1_more_connections_than_files(self):
        self.start(prefix=["prlimit", "--nofile=512:512"])
        self.attacked("connections")

    def test_c1_silent_connections(self):
        self.start()
        self.attacked("silent")

    def test_c2_rapid_reset(self):
        self.start()
        self.attacked("rapid_reset")

    def test_c3_compressed_bomb(self):
        self.start()
        self.attacked("bomb")

    def test_c3_compressed_bomb_of_a_known_caller(self):
        self.start()
        self.attacked("bomb", self.token)

    def test_c4_endless_bodies(self):
        self.start()
        self.attacked("endless_bodies")

    def test_c5_reflection_of_megabytes(self):
        self.start()
        self.attacked("reflection")

    def test_c5_reflection_unread(self):
        self.start()
        self.attacked("reflection_unread")

    def test_c6_health_checks(self):
        self.start()
        self.attacked("health")

    def test_c7_endless_header(self):
        self.start()
        self.attacked("endless_header")

    def test_c7_one_large_header(self):
        self.start()
        self.attacked("one_large_header")

    def test_c8_open_imports(self):
        self.start()
        self.attacked("open_imports")

    def test_c8_open_watches(self):
        self.start()
        self.attacked("open_watches")

    def test_c2_rapid_reset_through_tls(self):
        self.start_with_tls()
        self.attacked("rapid_reset")

    def test_c4_endless_bodies_through_tls(self):
        self.start_with_tls()
        self.attacked("endless_bodies")

    def test_c7_endless_header_through_tls(self):
        self.start_with_tls()
        self.attacked("endless_header")

    def test_a_caller_may_begin_with_all_calls_that_it_is_offered(self):
        """No attack: all of them are in one packet, before the first is admitted."""
        self.start()
        burst = b"".join(
            open_stream(number, "/tavola.v1.TableService/ListTables", authorization=f"Bearer {self.token}")
            + data_frames(number, message(b""))
            for number in range(1, 2 * STREAMS, 2))
        until = time.monotonic() + 30
        with Connection(self.address) as caller:
            self.assertTrue(caller.send(burst, until))
            while len(caller.ended) < STREAMS:
                self.assertTrue(caller.turn(until), f"{len(caller.ended)} calls of {STREAMS} were answered")
