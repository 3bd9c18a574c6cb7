#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An order system: orders by customer, by status and by day; finished ones go to an archive; a signature per customer.
# usage: orders.sh ACCOUNT; needs TAVOLA_ACCOUNT_KEY, the program tavola in PATH, and jq. See examples/orders/README.md.
set -eu
TAVOLA_TOKEN=$(tavola token create "$1" 900)
export TAVOLA_TOKEN
changes=$(mktemp)
trap 'rm "$changes"' EXIT

names() { # entities as JSON lines -> acme/1001 acme/1002
    jq -sr '[.[] | .PartitionKey + "/" + .RowKey] | join(" ")'
}

index() { # NAME PROPERTY: create it and wait for it
    build=$(tavola api IndexService/CreateIndex "{\"index\": {\"name\": \"$1\", \"table\": \"orders\", \"shape\": \"INDEX_SHAPE_COPY\",
        \"partitionKey\": [{\"property\": \"$2\"}]}}" | jq -r .status.build.operationId)
    tavola operation wait "$build" >/dev/null
}

lookup() { # INDEX VALUE: the entities, right as of now, as JSON lines
    tavola api IndexService/LookupIndex "{\"index\": \"$1\", \"equals\": [$2], \"freshness\": {\"latest\": true}}" |
        jq -c '.entities[]? | {PartitionKey: .partitionKey, RowKey: .rowKey}'
}

# Tables and indexes; the table keeps its changes for whoever follows them.
tavola table create orders
tavola table create archive
tavola table set orders --change-feed on >/dev/null
index ordersByStatus Status
index ordersByDay Day
begin=$(tavola api EntityService/WatchEntities '{"table": "orders"}' --count 1 | jq -r .resumeToken)

# New orders: the customer is the partition, so one customer's orders lie together.
while read -r customer number day total; do
    tavola entity put orders "$customer" "$number" Status=open "Day:datetime=2026-03-0${day}T00:00:00Z" "Total:double=$total" --insert
done >/dev/null <<END
acme 1001 1 120.5
acme 1002 2 80
acme 1003 3 15.25
globex 1004 1 42
globex 1005 2 99
globex 1006 4 7.5
END

echo "orders of acme: $(tavola entity query orders "PartitionKey eq 'acme'" | names)"
echo "orders of 2026-03-02: $(lookup ordersByDay '{"datetimeValue": "2026-03-02T00:00:00Z"}' | names)"

# Two are finished: only from open to done, whoever else is at work on them.
for order in acme/1002 globex/1005; do
    tavola api EntityService/MergeEntity "{\"table\": \"orders\", \"precondition\": {\"condition\": \"Status eq 'open'\"},
        \"entity\": {\"partitionKey\": \"${order%/*}\", \"rowKey\": \"${order#*/}\", \"properties\": {\"Status\": {\"stringValue\": \"done\"}}}}"
done >/dev/null

# Finished orders move to the archive, all of them or, after a crash, the rest later: the transaction is carried to its end.
steps=$(lookup ordersByStatus '{"stringValue": "done"}' |
    jq -sc '[.[] | {partitionKey: .PartitionKey, rowKey: .RowKey} |
        {move: {source: {table: "orders", key: .}, destination: {table: "archive", key: .}}}]')
tavola api TransactionService/SubmitTransaction "{\"transactionId\": \"archive-1\", \"steps\": $steps}" >/dev/null
tavola api TransactionService/WaitTransaction '{"transactionId": "archive-1"}' >/dev/null
echo "open: $(lookup ordersByStatus '{"stringValue": "open"}' | names)"
echo "archived: $(tavola entity query archive | names)"

# What a follower of the table has seen.
tavola watch orders --token "$begin" >"$changes" &
follower=$!
until [ "$(wc -l <"$changes")" -ge 10 ]; do sleep 0.1; done
kill "$follower"
seen() { grep -c "^$1" "$changes"; }
echo "seen: $(seen inserted) inserted $(seen updated) changed $(seen deleted) deleted"

# A customer gets a signature for its own orders, and opens nothing else with it.
TAVOLA_TOKEN=$(tavola sas create "$1" orders --permissions r --expiry +3600 --start-partition acme --end-partition acme)
echo "acme sees: $(tavola entity query orders | names)"
tavola entity delete orders acme 1001 2>&1 | sed -n 's/.*PERMISSION_DENIED \/ \([A-Z_]*\).*/acme may not delete: \1/p'
