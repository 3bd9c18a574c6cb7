# SPDX-License-Identifier: Apache-2.0
"""What each method must answer to each credential, written by hand from docs/security.md: the code is compared with this.

A row of RULES is a method with what it needs of a shared access signature, and a request on the entity `b`/`2` of the
table People. What the answer of a range is, depends on what the method does with keys.
"""

from tavola_test import client
from tavola_test.client import match
from tavola_test.security_case import ABSENT, FORGED, MISMATCH, OK, REFUSED, address

TOKEN, ADMINISTRATOR = "a token of the account", "a token of an account that administers"

# What a range of keys that leaves the entity out does to a call.
SEES_LESS = "answers as if there were no other entities"
ABSENT_OUTSIDE = "answers that there is no such entity"
REFUSED_OUTSIDE = "is refused"
REFUSED_WITH_ANY = "is refused with every range"
ONLY_OWN = "answers that there is no such transaction: it is of the account, not of the signature"

NO_TRANSACTION = ("NOT_FOUND", "TRANSACTION_NOT_FOUND")
PEOPLE, QUERY = {"table": "People"}, {"query": {"table": "People"}}
KEY = {"key": address("b", "2")}
CONDITION = {"precondition": {"condition": "N ge 0"}}
INDEX = {"name": "ByOther", "table": "People", "shape": 1, "place": 2, "partition_key": [{"property": "Other"}]}


def target():
    return client.entity("b", "2", {"N": 1})


class Rule:
    """needs: letters that a signature must have; or TOKEN or ADMINISTRATOR. other: what a token of another account gets."""

    def __init__(self, needs, outside=None, request=None, other=("NOT_FOUND",)):
        self.needs, self.outside, self.request, self.other = needs, outside, request or (lambda number: {}), other

    @property
    def opens_to_signatures(self):
        return self.needs not in (TOKEN, ADMINISTRATOR)

    def for_signature(self, letters, has_range, is_inside):
        """(code, reason) of a call with a signature for the table People."""
        if not letters:
            return FORGED  # there is no signature without permissions
        if not self.opens_to_signatures:
            return REFUSED
        if self.outside == REFUSED_WITH_ANY and has_range:
            return REFUSED
        if set(self.needs) - set(letters):
            return MISMATCH
        if self.outside == ONLY_OWN:
            return NO_TRANSACTION
        if is_inside or self.outside in (SEES_LESS, REFUSED_WITH_ANY):
            return OK
        return ABSENT if self.outside == ABSENT_OUTSIDE else REFUSED


def fixed(**fields):
    return lambda number: fields


def rule(needs, outside=None, other=("NOT_FOUND",), **fields):
    return Rule(needs, outside, fixed(**fields), other)


def insert(number):
    return {**PEOPLE, "entity": client.entity("b", f"2-{number}")}


def submit(number):
    return {"transaction_id": f"m{number}", "steps": [{"insert_or_replace": {**PEOPLE, "entity": target()}}]}


OURS = {"transaction_id": "ours"}
OPERATION = {"operation_id": "OURS"}  # the test puts the id in
NONE, IS_OWN = ("NOT_FOUND",), ("OK",)

RULES = {
    "EntityService/InsertEntity": Rule("a", REFUSED_OUTSIDE, insert),
    "EntityService/ReplaceEntity": rule("u", REFUSED_OUTSIDE, **PEOPLE, entity=target(), precondition=match()),
    "EntityService/ReplaceEntity with a condition": rule("ru", REFUSED_OUTSIDE, **PEOPLE, entity=target(), **CONDITION),
    "EntityService/MergeEntity": rule("u", REFUSED_OUTSIDE, **PEOPLE, entity=target(), precondition=match()),
    "EntityService/MergeEntity with a condition": rule("ru", REFUSED_OUTSIDE, **PEOPLE, entity=target(), **CONDITION),
    "EntityService/InsertOrReplaceEntity": rule("au", REFUSED_OUTSIDE, **PEOPLE, entity=target()),
    "EntityService/InsertOrMergeEntity": rule("au", REFUSED_OUTSIDE, **PEOPLE, entity=target()),
    "EntityService/DeleteEntity": rule("d", REFUSED_OUTSIDE, **PEOPLE, **KEY, precondition=match()),
    "EntityService/DeleteEntity with a condition": rule("rd", REFUSED_OUTSIDE, **PEOPLE, **KEY, **CONDITION),
    "EntityService/ExecuteBatch": rule("au", REFUSED_OUTSIDE, **PEOPLE, operations=[{"insert_or_replace": target()}]),
    "EntityService/ExecuteBatch that deletes": rule(
        "d", REFUSED_OUTSIDE, **PEOPLE, operations=[{"delete": address("b", "2"), "precondition": match()}]),
    "EntityService/GetEntity": rule("r", ABSENT_OUTSIDE, **PEOPLE, **KEY),
    "EntityService/BatchGetEntities": rule("r", SEES_LESS, **PEOPLE, keys=[address("b", "2")]),
    "EntityService/QueryEntities": rule("r", SEES_LESS, **QUERY),
    "EntityService/QueryEntities after a transaction": rule(
        "rt", SEES_LESS, **QUERY, options={"wait_for_transaction": "ended"}),
    "EntityService/CountEntities": rule("r", SEES_LESS, **QUERY),
    "EntityService/ExplainQuery": rule("r", SEES_LESS, **QUERY),
    "EntityService/ScanEntities": rule("r", SEES_LESS, **QUERY),
    "EntityService/WatchEntities": rule("r", SEES_LESS, **PEOPLE),
    "EntityService/ImportEntities": rule("au", REFUSED_OUTSIDE, **PEOPLE, entities=[target()]),
    "EntityService/DeleteRange": rule(TOKEN, **QUERY),
    "IndexService/LookupIndex": rule("ri", REFUSED_WITH_ANY, index="ByN", equals=[client.value(1)]),
    "TransactionService/SubmitTransaction": Rule("aut", REFUSED_OUTSIDE, submit, IS_OWN),
    "TransactionService/GetTransaction": rule("rt", ONLY_OWN, **OURS),
    "TransactionService/ListTransactions": rule(TOKEN, other=IS_OWN),
    "TransactionService/WaitTransaction": rule("rt", ONLY_OWN, **OURS),
    "TransactionService/WatchTransaction": rule("rt", ONLY_OWN, **OURS),
    "TransactionService/CancelTransaction": rule(TOKEN, **OURS),
    "TableService/CreateTable": rule(TOKEN, other=IS_OWN, name="People"),
    "TableService/GetTable": rule(TOKEN, name="People"),
    "TableService/GetAccountUsage": rule(TOKEN, other=IS_OWN),
    "TableService/ListTables": rule(TOKEN, other=IS_OWN),
    "TableService/UpdateTable": rule(
        TOKEN, table={"name": "People", "default_max_plan": 1}, update_mask={"paths": ["default_max_plan"]}),
    "TableService/DeleteTable": rule(TOKEN, name="People"),
    "IndexService/CreateIndex": rule(TOKEN, index=INDEX),
    "IndexService/GetIndex": rule(TOKEN, name="ByN"),
    "IndexService/ListIndexes": rule(TOKEN, other=IS_OWN),
    "IndexService/UpdateIndex": rule(TOKEN, name="ByN", consistency=1),
    "IndexService/ReplaceIndex": rule(TOKEN, index={**INDEX, "name": "ByN"}),
    "IndexService/DropIndex": rule(TOKEN, name="ByN"),
    "IndexService/VerifyIndex": rule(TOKEN, name="ByN"),
    "IndexService/RepairIndex": rule(TOKEN, name="ByN"),
    "IndexService/GetIndexReport": rule(TOKEN, **OPERATION),
    "IndexService/AdviseIndexes": rule(TOKEN, **PEOPLE),
    "BlobService/PutBlob": rule(TOKEN, other=IS_OWN, header={"name": "photos/1"}, end=True),
    "BlobService/GetBlob": rule(TOKEN, name="photos/1"),
    "BlobService/StatBlob": rule(TOKEN, name="photos/1"),
    "BlobService/ListBlobs": rule(TOKEN, other=IS_OWN),
    "BlobService/GetUpload": rule(TOKEN, upload_id="ours"),
    "BlobService/DeleteBlob": rule(TOKEN, name="photos/1"),
    "OperationService/GetOperation": rule(TOKEN, **OPERATION),
    "OperationService/ListOperations": rule(TOKEN, other=IS_OWN),
    "OperationService/WaitOperation": rule(TOKEN, **OPERATION),
    "OperationService/ControlOperation": rule(TOKEN, **OPERATION, control=3),
    "AdminService/ListQueues": rule(ADMINISTRATOR),
    "AdminService/ControlQueue": rule(ADMINISTRATOR, control=1),
    "AdminService/ListDeadLetters": rule(ADMINISTRATOR),
    "AdminService/RedriveDeadLetters": rule(ADMINISTRATOR, dead_letter_ids=[1]),
    "AdminService/DiscardDeadLetters": rule(ADMINISTRATOR, dead_letter_ids=[1], reason="to do harm"),
    "AdminService/ListHotPartitions": rule(ADMINISTRATOR),
    "AdminService/ListAuditRecords": rule(ADMINISTRATOR),
    "AdminService/ListServerSamples": rule(ADMINISTRATOR),
    "AdminService/ListChunkStores": rule(ADMINISTRATOR),
    "AdminService/MoveChunks": rule(ADMINISTRATOR, store=2),
}


def method_of(name):
    """Of a key of RULES: "EntityService/GetEntity"."""
    return name.split(" ")[0]
