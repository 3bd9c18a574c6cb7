# SPDX-License-Identifier: Apache-2.0
"""The same attacks with nginx in front, configured as docs/security.md says."""

import os
import unittest

from attack_case import NGINX, AttackCase


@unittest.skipUnless(os.path.exists(NGINX), "there is no nginx: Debian's nginx-light")
class BehindNginx(AttackCase):
    def setUp(self):
        super().setUp()
        self.start_behind_nginx()

    def test_rapid_reset(self):
        self.attacked("rapid_reset")

    def test_endless_bodies(self):
        self.attacked("endless_bodies")

    def test_endless_header(self):
        self.attacked("endless_header")
