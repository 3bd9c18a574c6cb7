# SPDX-License-Identifier: Apache-2.0
"""What one account with a valid token can do to the others: they are served, and memory stays under the bound."""

from attack_case import AttackCase


class BetweenAccounts(AttackCase):
    def test_h2_many_small_elements(self):
        self.start()
        self.attacked("many_elements", self.prepare_noisy())

    def test_h3_long_filters(self):
        self.start()
        self.attacked("long_filters", self.prepare_noisy())

    def test_h6_unread_pages(self):
        self.start()
        self.attacked("unread_pages", self.prepare_noisy())
