#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""First steps from Python, to be read from top to bottom and run: examples/first_steps.py [TARGET]

calls.py, beside it, makes the stubs and the channel, and says what they need. TARGET is TAVOLA_TARGET, or
127.0.0.1:50051, unless given; with TAVOLA_TOKEN set, its token goes with every call.
"""

import datetime
import uuid

import grpc
from calls import call, indexes, person, reason_of, transactions

# ---- tables and entities ----

PEOPLE = "People" + uuid.uuid4().hex[:8]
call("TableService/CreateTable", {"name": PEOPLE})
ada = person("sales", "0001", Name="Ada", Age=36)
written = call("EntityService/InsertEntity", {"table": PEOPLE, "entity": ada, "request_id": str(uuid.uuid4())})
print("inserted, etag", written.result.etag)

# Optimistic concurrency: of two callers that have read the same state, the second one is refused and learns why.
older = person("sales", "0001", Name="Ada", Age=37)
replace = {"table": PEOPLE, "entity": older, "precondition": {"if_match": written.result.etag}}
call("EntityService/ReplaceEntity", replace)
try:
    call("EntityService/ReplaceEntity", replace)
except grpc.RpcError as error:
    print("the second replace:", *reason_of(error))

# A condition on the stored entity, instead of reading it first.
raise_ = {"table": PEOPLE, "entity": person("sales", "0001", Age=38), "precondition": {"condition": "Age lt 38"}}
call("EntityService/MergeEntity", raise_)

# Up to a hundred writes in one partition: all take effect, or none does.
batch = [{"insert": person("sales", f"{n:04}", Name=f"Person {n}", Age=20 + n)} for n in range(2, 12)]
call("EntityService/ExecuteBatch", {"table": PEOPLE, "operations": batch, "request_id": str(uuid.uuid4())})

# An entity that expires tomorrow.
guest = person("guests", "0001", Name="Grace", Age=45)
guest["expires"] = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)).isoformat()
call("EntityService/InsertOrReplaceEntity", {"table": PEOPLE, "entity": guest})

# Many entities at once, as a stream; each message is answered once it is committed.
stream = ({"table": PEOPLE, "entities": [person(f"team{t}", f"{n:04}", Name=f"M{n}", Age=n) for n in range(50)]}
          for t in range(4))
answers = list(call("EntityService/ImportEntities", stream))
print("imported", answers[-1].committed, "rejected", sum(len(answer.rejected) for answer in answers))

# ---- queries ----

query = {"table": PEOPLE, "filter": "PartitionKey eq 'sales' and Age ge 25"}
token, names = "", []
while True:
    page = call("EntityService/QueryEntities", {"query": query, "page_size": 3, "page_token": token})
    names += [found.properties["Name"].string_value for found in page.entities]
    token = page.next_page_token
    if not token:  # a page may be short, or empty: only the token says whether another page follows
        break
print("found", names)
print("counted", call("EntityService/CountEntities", {"query": {"table": PEOPLE}}).count)

# All entities, at the reader's pace; after any break it goes on from the last token.
read, token = 0, ""
for part in call("EntityService/ScanEntities", {"query": {"table": PEOPLE}, "resume_token": token}):
    read, token = read + len(part.entities), part.resume_token
print("scanned", read)

# ---- an index in other partitions ----

BY_NAME = "ByName" + uuid.uuid4().hex[:8]
declaration = {
    "name": BY_NAME,
    "table": PEOPLE,
    "shape": indexes.INDEX_SHAPE_COPY,
    "place": indexes.INDEX_PLACE_OTHER_PARTITION,
    "partition_key": [{"property": "Name"}],
}
created = call("IndexService/CreateIndex", {"index": declaration})
call("OperationService/WaitOperation", {"operation_id": created.status.build.operation_id})
last = call("EntityService/InsertOrReplaceEntity", {"table": PEOPLE, "entity": person("sales", "0099", Name="Ada", Age=1)})
look_up = {
    "index": BY_NAME,
    "equals": [{"string_value": "Ada"}],
    "freshness": {"at_least": [last.result.consistency_token]},  # wait until the look-up shows the write above
}
found = call("IndexService/LookupIndex", look_up)
print("looked up", [(entity.partition_key, entity.row_key) for entity in found.entities])

# ---- a transaction across partitions: it runs to its end, and may be submitted again under its id ----

address = {"table": PEOPLE, "key": {"partition_key": "sales", "row_key": "0001"}}
move = {"source": address, "destination": {"table": PEOPLE, "key": {"partition_key": "former", "row_key": "0001"}}}
leave = str(uuid.uuid4())
call("TransactionService/SubmitTransaction", {"transaction_id": leave, "steps": [{"move": move}]})
ended = call("TransactionService/WaitTransaction", {"transaction_id": leave}).transaction
print("transaction", transactions.TransactionState.Name(ended.state), "after", len(ended.timeline), "attempt(s)")

# ---- clean up: a range, by an operation of the service, then the tables ----

begun = call("EntityService/DeleteRange", {"query": {"table": PEOPLE, "filter": "PartitionKey ge 'team'"}})
done = call("OperationService/WaitOperation", {"operation_id": begun.operation.operation_id}).operation
print("deleted", done.done)
call("TableService/DeleteTable", {"name": PEOPLE})
print("done")
