#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The SDK of Azure Tables with Tavola: a table, entities, conditions, queries.
//
//   npm install && node first_steps.mjs
//
// AZURE_TABLES is the connection string that `./dev run` prints; without it the address is that of ./dev run.
import { odata, TableClient } from "@azure/data-tables";

const connection = process.env.AZURE_TABLES ?? "UseDevelopmentStorage=true";
const people = TableClient.fromConnectionString(connection, "azurePeople", { allowInsecureConnection: true });

await people.createTable();
const ada = { partitionKey: "sales", rowKey: "0001", name: "Ada", age: 36, since: new Date("2024-03-01"), visits: 9007199254740993n };
await people.upsertEntity(ada, "Replace");
await people.upsertEntity({ partitionKey: "sales", rowKey: "0002", name: "Grace", age: 45 }, "Replace");

// A condition: the update is refused if the entity has changed since it was read.
const read = await people.getEntity("sales", "0001");
await people.updateEntity({ ...read, age: 37 }, "Merge", { etag: read.etag });
try {
  await people.updateEntity({ ...read, age: 38 }, "Merge", { etag: read.etag });
} catch (error) {
  console.log(error.statusCode, error.details.odataError.code);
}

const filter = odata`PartitionKey eq ${"sales"} and age ge ${37}`;
for await (const person of people.listEntities({ queryOptions: { filter } })) console.log(person.name, person.age);

await people.deleteEntity("sales", "0002");
await people.deleteTable();
