// SPDX-License-Identifier: Apache-2.0
// The JavaScript SDK of Azure Tables, unchanged: transactions, shared access signatures and stored access policies.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  AzureNamedKeyCredential,
  AzureSASCredential,
  generateAccountSas,
  generateTableSas,
  TableClient,
  TableServiceClient,
  TableTransaction,
} from "@azure/data-tables";

const connection = process.env.AZURE_TABLES;
const parts = Object.fromEntries(connection.split(";").filter(Boolean).map((part) => part.split(/=(.*)/s).slice(0, 2)));
const credential = new AzureNamedKeyCredential(parts.AccountName, parts.AccountKey);
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
const service = TableServiceClient.fromConnectionString(connection, options);
const owner = TableClient.fromConnectionString(connection, "Access", options);
const signed = (signature, table = "Access") =>
  new TableClient(parts.TableEndpoint.replace(/\/$/, ""), table, new AzureSASCredential(signature), options);
const soon = () => new Date(Date.now() + 600000);

async function all(pages) {
  const found = [];
  for await (const each of pages) found.push(each);
  return found;
}

async function refused(promise, statusCode, code) {
  const error = await promise.then(
    () => assert.fail(`${code} was expected`),
    (reason) => reason,
  );
  const found = error.details?.odataError?.code ?? error.details?.code ?? error.code;
  assert.deepEqual([error.statusCode, found], [statusCode, code], JSON.stringify(error));
  return error;
}

before(() => service.createTable("Access"));
after(() => service.deleteTable("Access"));

describe("transactions", () => {
  const entity = (rowKey, more = {}) => ({ partitionKey: "batch", rowKey, ...more });

  it("do all kinds of writes at once", async () => {
    for (const row of ["updated", "merged", "deleted"]) await owner.createEntity(entity(row, { old: 1 }));
    const transaction = new TableTransaction();
    transaction.createEntity(entity("created", { n: 1 }));
    transaction.updateEntity(entity("updated", { n: 2 }), "Replace");
    transaction.updateEntity(entity("merged", { n: 3 }), "Merge");
    transaction.upsertEntity(entity("upserted", { n: 4 }), "Merge");
    transaction.deleteEntity("batch", "deleted");
    const result = await owner.submitTransaction(transaction.actions);
    assert.equal(result.status, 202);
    assert.deepEqual(result.subResponses.map((each) => each.status), [204, 204, 204, 204, 204]);
    assert.ok(result.getResponseForEntity("created").etag);
    const found = await all(owner.listEntities({ queryOptions: { filter: "PartitionKey eq 'batch'" } }));
    assert.deepEqual(
      found.map((each) => [each.rowKey, each.n, each.old]),
      [["created", 1, undefined], ["merged", 3, 1], ["updated", 2, undefined], ["upserted", 4, undefined]],
    );
  });

  it("do nothing where one write fails", async () => {
    await owner.createEntity(entity("there"));
    const error = await refused(owner.submitTransaction([["create", entity("new")], ["create", entity("there")]]), 409, "EntityAlreadyExists");
    assert.match(error.message, /^1:The specified entity already exists\./);
    await refused(owner.getEntity("batch", "new"), 404, "ResourceNotFound");
  });

  it("have at most a hundred writes of one partition", async () => {
    const many = Array.from({ length: 100 }, (_, n) => ["upsert", entity(`many${n}`)]);
    assert.equal((await owner.submitTransaction(many)).subResponses.length, 100);
    await refused(owner.submitTransaction([...many, ["upsert", entity("one more")]]), 400, "InvalidInput");
  });
});

describe("signatures", () => {
  before(() => owner.upsertEntity({ partitionKey: "p", rowKey: "1", n: 1 }));

  it("of a table permit what they say", async () => {
    const reader = signed(generateTableSas("Access", credential, { permissions: { query: true }, expiresOn: soon() }));
    assert.equal((await reader.getEntity("p", "1")).n, 1);
    await refused(reader.upsertEntity({ partitionKey: "p", rowKey: "1" }), 403, "AuthorizationPermissionMismatch");
    await refused(reader.submitTransaction([["delete", { partitionKey: "p", rowKey: "1" }]]), 403, "AuthorizationPermissionMismatch");
    const elsewhere = signed(generateTableSas("Other", credential, { permissions: { query: true }, expiresOn: soon() }));
    await refused(elsewhere.getEntity("p", "1"), 403, "AuthorizationFailure");
    const expired = signed(generateTableSas("Access", credential, { permissions: { query: true }, expiresOn: new Date(Date.now() - 1000) }));
    await refused(expired.getEntity("p", "1"), 403, "AuthenticationFailed");
  });

  it("of a table open a range of keys", async () => {
    await owner.upsertEntity({ partitionKey: "a b", rowKey: "1+'é" });
    const range = signed(
      generateTableSas("Access", credential, {
        permissions: { query: true },
        expiresOn: soon(),
        startPartitionKey: "a b",
        startRowKey: "1+'é",
        endPartitionKey: "a b",
        endRowKey: "1+'é",
      }),
    );
    assert.deepEqual((await all(range.listEntities())).map((each) => each.rowKey), ["1+'é"]);
    await refused(range.getEntity("p", "1"), 404, "ResourceNotFound");
  });

  it("of an account list, make and delete tables", async () => {
    const signature = generateAccountSas(credential, {
      permissions: { list: true, write: true, delete: true },
      services: { table: true },
      resourceTypes: "c",
      expiresOn: soon(),
    });
    const tables = new TableServiceClient(parts.TableEndpoint.replace(/\/$/, ""), new AzureSASCredential(signature), options);
    await tables.createTable("BySignature");
    assert.ok((await all(tables.listTables())).some((table) => table.name === "BySignature"));
    await tables.deleteTable("BySignature");
    await refused(signed(signature).getEntity("p", "1"), 403, "AuthorizationResourceTypeMismatch");
  });
});

describe("stored access policies", () => {
  it("are kept, and limit the signatures that name them", async () => {
    const start = new Date(Math.floor(Date.now() / 1000) * 1000 - 1000); // the SDK sends whole seconds
    await owner.setAccessPolicy([{ id: "readers", accessPolicy: { start, expiry: soon(), permission: "r" } }]);
    const kept = await owner.getAccessPolicy();
    assert.deepEqual(kept.map((each) => [each.id, each.accessPolicy.permission]), [["readers", "r"]]);
    assert.equal(kept[0].accessPolicy.start.getTime(), start.getTime());
    const reader = signed(generateTableSas("Access", credential, { identifier: "readers" }));
    let found;
    for (let end = Date.now() + 20000; !found && Date.now() < end; ) found = await reader.getEntity("p", "1").catch(() => undefined);
    assert.equal(found?.n, 1);
    await refused(reader.deleteEntity("p", "1"), 403, "AuthorizationPermissionMismatch");
    await owner.setAccessPolicy([]);
    assert.equal((await owner.getAccessPolicy()).length, 0);
  });
});
