# SPDX-License-Identifier: Apache-2.0
"""A caller that keeps copies of properties by a rule, with the Python package."""

import os
import sys
import time

from tavola_test.callers import ABSENT_SERVER_PAUSE, DIFFERENT, Caller, promise
from tavola_test.settings import SOURCE

sys.path.append(os.path.join(SOURCE, "clients/python"))
import tavola  # noqa: E402
from tavola.connection import passes  # noqa: E402
from tavola.copy_plan import Literal  # noqa: E402
from tavola.denormalization import CopyRule, RuleExists  # noqa: E402

MANAGERS, DEPARTMENTS = 3, 30


class Copier(Caller):
    """Writes managers and the departments that name them, and carries out the rule that copies the manager's name into these."""

    def __init__(self, stack, name, seed):
        super().__init__(stack, name, seed)
        self.rule, self.number = None, 0

    def connect(self):
        target = self.target or self.stack.target
        if not self.client and not self.stack.accepts(target):
            time.sleep(ABSENT_SERVER_PAUSE)
            return False
        if not self.client:
            self.client = tavola.Client(target, timeout=self.call_seconds)
            self.managers, self.departments = (self.client.table(f"{self.name}{kind}") for kind in ("Managers", "Departments"))
        return True

    def disconnect(self):
        if self.client:
            self.client.close()
        self.client = self.rule = None

    def attempt_to(self, how):
        """Whether the calls were answered. A rule goes on where it was, in another program or over another connection."""
        if not self.connect():
            return False
        try:
            self.rule = self.rule or self.open_rule()
            how()
        except tavola.Error as error:
            if not passes(error) and not isinstance(error, (tavola.DeadlineExceeded, tavola.NotFreshEnough)):
                raise
            self.disconnect()
            return False
        self.done += 1
        return True

    def open_rule(self):
        for table in (self.managers, self.departments):
            self.client.create_table(table.name, exist_ok=True)
        try:
            return CopyRule.create(self.client, self.name, source=self.managers.name, dependents=self.departments.name,
                                   named_by=(Literal("sales"), "Manager"), copies={"ManagerName": "Name"})
        except RuleExists:
            return CopyRule(self.client, self.name)

    def turn(self):
        self.written += self.attempt_to(self.random.choice((self.write_manager, self.write_department, self.carry_out)))

    def write_manager(self):
        self.number += 1
        row = str(self.random.randrange(MANAGERS))
        if self.random.random() < 0.2:
            self.delete_manager(row)
        else:
            self.managers.upsert({"PartitionKey": "sales", "RowKey": row, "Name": f"{self.number}"})

    def delete_manager(self, row):
        try:
            self.managers.delete("sales", row)
        except tavola.EntityNotFound:
            pass

    def write_department(self):
        row = f"{self.random.randrange(DEPARTMENTS):02}"
        self.departments.upsert({"PartitionKey": "sales", "RowKey": row, "Manager": str(self.random.randrange(MANAGERS + 1))})

    def carry_out(self):
        self.rule.catch_up()

    def finish(self):
        while not self.attempt_to(self.carry_out):
            pass

    def at_rest(self):
        while not self.attempt_to(self.check):
            pass

    def check(self):
        names = {one["RowKey"]: one["Name"] for one in self.managers.query()}
        wrong = [one for one in self.departments.query() if one.get("ManagerName") != names.get(one["Manager"])]
        promise(not wrong, "copies of another name", wrong, names, kind=DIFFERENT, count=len(wrong))
        report = self.rule.verify(settle=0)
        promise(not report.differences and not report.in_flight, "the rule itself finds", report, kind=DIFFERENT)
