// SPDX-License-Identifier: Apache-2.0
// An order system: orders by customer, by status and by day; finished ones go to an archive; a signature per customer.
// usage: node orders.mjs ACCOUNT; needs TAVOLA_ACCOUNT_KEY, and the package of clients/node. See examples/orders/README.md.
import { Account, Client, PermissionDenied } from "tavola";

const account = new Account(process.argv[2], process.env.TAVOLA_ACCOUNT_KEY);
const client = new Client(undefined, { token: account });
const names = async (found) => (await found.toArray()).map((one) => `${one.PartitionKey}/${one.RowKey}`).join(" ");
const day = (number) => new Date(Date.UTC(2026, 2, number));

// Tables and indexes; the table keeps its changes for whoever follows them.
const orders = await client.createTable("orders", { changeFeed: true });
const archive = await client.createTable("archive");
const byStatus = await (await orders.createIndex("ordersByStatus", "Status")).wait();
const byDay = await (await orders.createIndex("ordersByDay", "Day")).wait();
const watch = await orders.watch();

// New orders: the customer is the partition, so one customer's orders lie together.
for (const [PartitionKey, RowKey, number, Total] of [
  ["acme", "1001", 1, 120.5], ["acme", "1002", 2, 80], ["acme", "1003", 3, 15.25],
  ["globex", "1004", 1, 42], ["globex", "1005", 2, 99], ["globex", "1006", 4, 7.5],
])
  await orders.insert({ PartitionKey, RowKey, Status: "open", Day: day(number), Total });

console.log("orders of acme:", await names(orders.query("PartitionKey eq 'acme'")));
console.log("orders of 2026-03-02:", await names(byDay.lookup(day(2), { latest: true })));

// Two are finished: only from open to done, whoever else is at work on them.
for (const [PartitionKey, RowKey] of [["acme", "1002"], ["globex", "1005"]])
  await orders.merge({ PartitionKey, RowKey, Status: "done" }, { condition: "Status eq 'open'" });

// Finished orders move to the archive, all of them or, after a crash, the rest later: the transaction is carried to its end.
const transaction = client.transaction();
for await (const order of byStatus.lookup("done", { latest: true }))
  transaction.move(orders, [order.PartitionKey, order.RowKey], archive);
await transaction.run();
console.log("open:", await names(byStatus.lookup("open", { latest: true })));
console.log("archived:", await names(archive.query()));

// What a follower of the table has seen.
const seen = { inserted: 0, changed: 0, deleted: 0 };
let left = 10;
for await (const change of watch) {
  seen[change.kind]++;
  if (--left === 0)
    break;
}
console.log("seen:", Object.entries(seen).map(([kind, count]) => `${count} ${kind}`).join(" "));

// A customer gets a signature for its own orders, and opens nothing else with it.
const expiry = new Date(Date.now() + 3600_000);
const signature = account.sign({ table: "orders", permissions: "r", expiry, startPartition: "acme", endPartition: "acme" });
const tenant = new Client(undefined, { token: signature });
console.log("acme sees:", await names(tenant.table("orders").query()));
await tenant.table("orders").delete("acme", "1001").catch((error) => {
  if (!(error instanceof PermissionDenied))
    throw error;
  console.log("acme may not delete:", error.reason);
});
tenant.close();
client.close();
