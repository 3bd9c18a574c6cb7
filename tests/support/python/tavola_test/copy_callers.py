# SPDX-License-Identifier: Apache-2.0
"""A caller that writes on both sides of a copy rule, which the workers keep, and then compares every copy with its source."""

from tavola_test.callers import DIFFERENT, Caller, promise
from tavola_test.client import ApiError, entity, key, match, plain
from tavola_test.stack import READY

MANAGERS, DEPARTMENTS = 3, 30
COPIED = {"ManagerName": "Name"}


def rule_of(name, source, dependents, properties=None, **more):
    """The declaration of a rule: departments name a manager in the partition `sales`."""
    return {"name": name, "table": dependents, "shape": 1, "copies": {
        "source_table": source, "source_partition_key": {"literal": "sales"}, "source_row_key": {"property": "Manager"},
        "properties": properties or COPIED, **more}}


def wrong_copies(caller, managers, departments):
    """The departments whose copy is not the name of their manager."""
    names = {one.row_key: plain(one)["Name"] for one in caller.query(managers)}
    return [(one.row_key, given) for one in caller.query(departments) for given in [plain(one)]
            if given.get("ManagerName") != names.get(given["Manager"])]


class Copier(Caller):
    """Writes managers, and the departments that name them; sometimes a copy is written over."""

    def __init__(self, stack, name, seed):
        super().__init__(stack, name, seed)
        self.managers, self.departments, self.rule = (f"{name}{kind}" for kind in ("Managers", "Departments", "Rule"))
        self.is_declared, self.number = False, 0

    def turn(self):
        if not self.is_declared:
            self.declare()
        elif self.random.random() < 0.4:
            self.write_manager()
        else:
            self.write_department()

    def declare(self):
        """An attempt without an answer may have taken effect, so the next one finds what is there."""
        for call, fields in (("create_table", {"name": self.managers}), ("create_table", {"name": self.departments}),
                             ("create_index", {"index": rule_of(self.rule, self.managers, self.departments)})):
            try:
                if self.attempt(call, **fields) is None:
                    return
            except ApiError as error:
                if error.code != "ALREADY_EXISTS":
                    raise
        self.is_declared = True

    def write_manager(self):
        self.number += 1
        row = str(self.random.randrange(MANAGERS))
        if self.random.random() < 0.2:
            self.delete_manager(row)
        else:
            self.attempt("insert_or_replace_entity", table=self.managers, entity=entity("sales", row, Name=f"{self.number}"))

    def delete_manager(self, row):
        try:
            self.attempt("delete_entity", table=self.managers, key=key(("sales", row)), precondition=match())
        except ApiError as error:
            if error.reason != "RESOURCE_NOT_FOUND":
                raise

    def write_department(self):
        copy = {"ManagerName": "by a caller"} if self.random.random() < 0.1 else {}
        some = entity("sales", f"{self.random.randrange(DEPARTMENTS):02}", {"Manager": str(self.random.randrange(MANAGERS + 1)), **copy})
        self.attempt("insert_or_replace_entity", table=self.departments, entity=some)

    def at_rest(self):
        """No work is open, so every copy is right, and the rule itself finds no difference."""
        with self.stack.connect() as caller:
            status = caller.get_index(name=self.rule).status
            promise(status.state == READY, "the rule is not built", status, kind=DIFFERENT)
            wrong = wrong_copies(caller, self.managers, self.departments)
            promise(not wrong, "copies of another name", wrong, kind=DIFFERENT, count=len(wrong))
            operation = caller.verify_index(name=self.rule).operation
            caller.wait_operation(operation_id=operation.operation_id, timeout=30)
            report = caller.get_index_report(operation_id=operation.operation_id).report
            promise(not report.copies and not report.in_flight, "the rule itself finds", report, kind=DIFFERENT)
